// Modules that there are are let through, and others have a near one.
#include "tools/trace_scopes.h"

#include <gtest/gtest.h>

namespace lockstep {
namespace {

TEST(TraceScopesTest, WhatOperationsAreOfFits) {
  for (const std::string scope :
       {"", "layers", "layers.4", "layers.4.mixer", "embeddings", "norm_f",
        "lm_head", "lm_head.weight", "backbone.layers.0.mixer.in_proj.weight",
        "backbone.layers.4.norm.weight", "backbone.embeddings.weight",
        "pipeline.forward"}) {
    EXPECT_EQ(NearestTraceScope(scope, 5), scope);
    EXPECT_TRUE(TraceScopeNotes(scope, 5).empty());
  }
}

TEST(TraceScopesTest, WhatNoneIsOfHasANearOne) {
  EXPECT_EQ(NearestTraceScope("layers.5", 5), "layers.0");
  EXPECT_EQ(NearestTraceScope("layer.3.mixer", 5), "layers.3.mixer");
  EXPECT_EQ(NearestTraceScope("lmhead", 5), "lm_head");
  // An operation is no module.
  EXPECT_EQ(NearestTraceScope("layers.1.mixer.up_proj", 5), "layers.1.mixer");
  EXPECT_NE(NearestTraceScope("backbone.layers.7.mixer", 5),
            "backbone.layers.7.mixer");
  EXPECT_EQ(TraceScopeNotes("layers.5", 5).size(), 1u);
}

}  // namespace
}  // namespace lockstep
