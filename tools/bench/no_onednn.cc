// The answer of a build without oneDNN.
#include "determinism/status.h"
#include "tools/bench/peer_product.h"

namespace lockstep {

absl::Status CheckProductPeer(const std::string& peer) {
  if (peer.empty()) return absl::OkStatus();
  if (peer != "onednn") {
    return InputError("there is no such peer", "--peer " + peer,
                      "onednn is the one there is");
  }
  return InputError("this build has no oneDNN", "--peer onednn",
                    "install libdnnl-dev and build with "
                    "--define=lockstep_onednn=on");
}

absl::StatusOr<std::unique_ptr<PeerProduct>> PeerProduct::Make(
    const MatmulArgs&, int, bool) {
  return CheckProductPeer("onednn");
}

}  // namespace lockstep
