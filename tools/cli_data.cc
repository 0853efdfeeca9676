// `lockstep data`: the options and examples of its verbs.
#include "tools/batch_schedule.h"
#include "tools/cli_verb.h"

namespace lockstep {
namespace {

void AddPrepare(CLI::App& data, DataPrepareOptions& p, Run& run) {
  CLI::App* prepare =
      Verb(data, "prepare", "text or JSON lines to an indexed token file",
           "lockstep data prepare books/ --output data/books");
  prepare->add_option("inputs", p.inputs, "files and folders")->required();
  prepare->add_option("--output", p.output, "prefix of .bin and .idx")
      ->required();
  prepare->add_option("--tokenizer", p.tokenizer,
                      "byte, or a SentencePiece model (M.model)");
  prepare
      ->add_option("--document-bytes", p.document_bytes,
                   "cut files at blank lines into documents of this size")
      ->transform(Whole(0, int64_t{1} << 62));
  prepare->add_option("--field", p.field,
                      "the field of .jsonl lines that holds the text (text)");
  prepare->add_flag("--json", p.json, "one JSON object on stdout");
  prepare->add_flag("--quiet", p.quiet, "no display");
  prepare->callback([&] { run = [&] { return DataPrepareVerb(p); }; });
}

void AddInspect(CLI::App& data, DataInspectOptions& i, Run& run) {
  CLI::App* inspect = Verb(data, "inspect", "what a token file holds",
                           "lockstep data inspect data/books");
  CLI::App* verify =
      Verb(data, "verify", "whether every block holds; hashes a foreign file",
           "lockstep data verify data/books");
  for (CLI::App* verb : {inspect, verify}) {
    verb->add_option("prefix", i.prefix, "of a pair; or shards")->required();
    verb->add_flag("--json", i.json, "one JSON object on stdout");
  }
  inspect->callback([&] { run = [&] { return DataInspectVerb(i); }; });
  verify->callback([&] { run = [&] { return DataVerifyVerb(i); }; });
}

void AddOrder(CLI::App& data, DataOrderOptions& o, Run& run) {
  CLI::App* order = Verb(data, "order", "which samples each step reads",
                         "lockstep data order recipes/debug.toml --from 3");
  order->add_option("recipe", o.recipe, "a TOML file")->required();
  order->add_option("--run", o.run_dir, "with what this run passes over");
  order->add_option("--set", o.sets, "section.key=value, over the recipe")
      ->take_all()
      ->expected(1);
  order->add_option("--from", o.from, "first step")
      ->required()
      ->transform(Whole(1, kMostSteps));
  order->add_option("--to", o.to, "last step (the first)")
      ->transform(Whole(1, kMostSteps));
  order->add_flag("--json", o.json, "one JSON object a line on stdout");
  order->callback([&] { run = [&] { return DataOrderVerb(o); }; });
}

void AddTrainTokenizer(CLI::App& data, TrainTokenizerVerbOptions& o, Run& run) {
  CLI::App* verb = Verb(data, "train-tokenizer",
                        "a SentencePiece model of text or JSON lines",
                        "lockstep data train-tokenizer books/ --vocab 16384 "
                        "--output books.model");
  verb->add_option("inputs", o.inputs, "files and folders")->required();
  verb->add_option("--vocab", o.vocab, "ids of the model")
      ->required()
      ->transform(Whole(1, int64_t{1} << 24));
  verb->add_option("--output", o.output, "the model, *.model")->required();
  verb->add_option("--type", o.type, "bpe or unigram");
  verb->add_option("--field", o.field,
                   "the field of .jsonl lines that holds the text (text)");
  verb->add_option("--sample-bytes", o.sample_bytes,
                   "train on at most so many bytes, lines spread evenly")
      ->transform(Whole(1, INT64_MAX));
  verb->add_flag("--json", o.json, "one JSON object on stdout");
  verb->callback([&] { run = [&] { return TrainTokenizerVerb(o); }; });
}

}  // namespace

void AddData(CLI::App& app, DataVerbs& o, Run& run) {
  CLI::App* data = app.add_subcommand(
      "data", "prepare, inspect, verify, order, train-tokenizer");
  data->require_subcommand(1);
  AddPrepare(*data, o.prepare, run);
  AddInspect(*data, o.inspect, run);
  AddOrder(*data, o.order, run);
  AddTrainTokenizer(*data, o.train_tokenizer, run);
}

}  // namespace lockstep
