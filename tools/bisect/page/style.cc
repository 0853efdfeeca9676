#include "tools/bisect/page/sections.h"

namespace lockstep {

const char kPageStyle[] = R"css(
:root { color-scheme: light dark; --paper: #fdfdfb; --ink: #1d2126;
  --quiet: #5d6570; --rule: #d9dbd5; --card: #f3f3ef; --same: #4c8c6b;
  --apart: #d9822b; --origin: #c4243c; --between: #7a3fb0; --missing: #3b4048;
  --window: #3c6fd119; --window-edge: #3c6fd1; --sign: #ffffff; }
@media (prefers-color-scheme: dark) { :root { --paper: #14171b; --ink: #e6e8ea;
  --quiet: #9aa3ad; --rule: #30363d; --card: #1c2127; --same: #4f9d77;
  --apart: #e0933f; --origin: #f0566b; --between: #ac7be0; --missing: #8b949e;
  --window: #6f9cf024; --window-edge: #6f9cf0; --sign: #0d1014; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.1rem; margin: 0 0 .8rem; color: var(--quiet);
  font-weight: 500; }
h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
h3 { font-size: .95rem; margin: 1.2rem 0 .4rem; }
p { margin: .4rem 0; overflow-wrap: anywhere; }
code, pre { font: .875em/1.45 ui-monospace, monospace; }
pre { background: var(--card); padding: .7rem .8rem; border-radius: 6px;
  margin: .4rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.verdict { border-left: 6px solid var(--origin); background: var(--card);
  padding: .9rem 1.1rem; border-radius: 0 6px 6px 0; }
.verdict.good { border-color: var(--same); }
.verdict .word { font-size: 1.7rem; font-weight: 650; line-height: 1.2; }
.verdict .place { font-size: 1.05rem; }
.note, .legend, .run { color: var(--quiet); font-size: .9rem; }
.wide, .figure { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; width: 100%;
  min-width: 44rem; }
th { text-align: left; color: var(--quiet); font-weight: 500;
  white-space: nowrap; }
th, td { padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--rule);
  vertical-align: top; overflow-wrap: anywhere; min-width: 4em; }
.timeline { display: block; overflow: visible; }
.timeline text { font: 13px system-ui, sans-serif; fill: var(--quiet); }
.timeline .strong, .timeline .name { fill: var(--ink); font-weight: 600; }
.timeline .same { fill: var(--same); } .timeline .apart { fill: var(--apart); }
.timeline .window { fill: var(--window); stroke: var(--window-edge);
  stroke-dasharray: 3 3; }
.timeline .parting { stroke: var(--origin); stroke-width: 2; }
.checkpoint { fill: var(--paper); stroke: var(--same); stroke-width: 2; }
.checkpoint.other { stroke: var(--apart); }
.key { display: inline-block; width: 1em; height: .7em; border-radius: 2px;
  margin-right: .2em; }
.key.same { background: var(--same); } .key.apart { background: var(--apart); }
.key.window { background: var(--window);
  border: 1px dashed var(--window-edge); }
.key.dot { width: .75em; height: .75em; border-radius: 50%;
  border: 2px solid var(--same); }
.key.dot.other { border-color: var(--apart); }
.map { position: relative; width: 100%; max-width: 34rem; max-height: 34rem;
  border: 1px solid var(--rule); background: var(--card); }
.map img { width: 100%; height: 100%; display: block;
  image-rendering: pixelated; }
.ring { position: absolute; width: 18px; height: 18px; margin: -9px 0 0 -9px;
  border: 2px solid var(--ink); border-radius: 50%; }
.ring::after { content: ""; position: absolute; left: 5px; top: 5px;
  width: 4px; height: 4px; border-radius: 50%; background: var(--origin); }
.bars { display: grid; grid-template-columns: max-content 1fr max-content;
  gap: .25rem .7rem; align-items: center; font-size: .9rem; max-width: 34rem; }
.bar { background: var(--card); height: 1em; border-radius: 2px; }
.fill { display: block; height: 100%; min-width: 3px; border-radius: 2px; }
.tree { font-size: .9rem; }
.tree details > :not(summary) { margin-left: 1.1rem; }
.row { display: flex; align-items: center; padding: 1px 0;
  border-bottom: 1px solid var(--rule); }
summary.row { cursor: pointer; list-style: none; }
summary.row .scope::before { content: "\25B8"; display: inline-block;
  width: 1.1rem; color: var(--quiet); }
details[open] > summary.row .scope::before { content: "\25BE"; }
.scope { flex: 1; } .scope.strong { font-weight: 650; }
.head { color: var(--quiet); position: sticky; top: 0;
  background: var(--paper); }
.cells { display: flex; gap: 2px; }
.cell { display: inline-block; width: 1.7em; height: 1.45em;
  line-height: 1.45em; text-align: center; border-radius: 3px;
  font-size: .85em; }
.cell.equal { background: var(--same); color: var(--sign); }
.cell.receiver { background: var(--apart); color: var(--sign); }
.cell.origin { background: var(--origin); color: var(--sign); }
.cell.between { background: var(--between); color: var(--sign); }
.cell.missing { background: var(--missing); color: var(--sign); }
.legend .item { white-space: nowrap; margin-right: .9em; }
.legend .cell { margin-right: .2em; }
@media print { body { background: none; } details { break-inside: avoid; } }
)css";

}  // namespace lockstep
