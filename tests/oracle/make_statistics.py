"""Writes golden/statistics.json: tails and quantiles with mpmath to 40 digits, whole tests with scipy.

    make_statistics.py [--out FILE]

Two sources, since they fail differently: mpmath evaluates the integrals to any precision, scipy is what people
compare their verdicts with. Where both can say the same thing they must agree, or nothing is written.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

import mpmath
from scipy import stats

HERE = Path(__file__).resolve().parent
mpmath.mp.dps = 40
DOFS = (0.7, 1, 1.5, 2, 3, 5.775, 6, 10, 29.3, 100, 1e4, 1e6)
TS = (0.0, 1e-8, 0.1, 0.5, 1.0, 2.0, 2.4942, 5.0, 12.0, 40.0)
TAILS = (0.5, 0.2, 0.05, 0.01, 1e-6)
ARMS = (
    ([2.412, 2.418, 2.409, 2.416], [2.405, 2.411, 2.404, 2.409]),
    ([2.410, 2.4115, 2.4125], [2.4055, 2.4062, 2.4073]),
    ([1.0, 2.0, 3.0, 4.0, 5.0], [2.5, 2.6]),
    ([3.1, 3.1, 3.2], [3.4, 3.0, 2.2, 5.0, 3.9, 3.3]),
    ([10.0, 10.5], [10.1, 10.2]),
)


def tail(t: float, dof: float) -> float:
    x = mpmath.mpf(dof) / (mpmath.mpf(dof) + mpmath.mpf(t) ** 2)
    value = float(mpmath.betainc(mpmath.mpf(dof) / 2, mpmath.mpf("0.5"), 0, x, regularized=True))
    other = 2 * stats.t.sf(t, dof)
    # scipy's t.sf is off by 3e-9 at t = 1e-8, where the tail is 1 - 6e-9.
    if not math.isclose(value, other, rel_tol=1e-8, abs_tol=1e-300):
        raise SystemExit(f"mpmath and scipy disagree: t {t}, dof {dof}: {value}, {other}")
    return value


def welch(a: list[float], b: list[float]) -> dict:
    result = stats.ttest_ind(a, b, equal_var=False)
    interval = result.confidence_interval(0.95)
    return {
        "baseline": a, "candidate": b, "t": result.statistic, "dof": result.df, "p": result.pvalue,
        "low": interval.low, "high": interval.high,
    }


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default=str(HERE / "golden" / "statistics.json"))
    golden = {
        "versions": {"mpmath": mpmath.__version__, "scipy": __import__("scipy").__version__},
        "log_gamma": [[x, float(mpmath.loggamma(x))] for x in (1e-3, 0.5, 1.5, 3.25, 11.9, 12.1, 100.5, 1e6)],
        "student_tail": [[t, dof, tail(t, dof)] for dof in DOFS for t in TS],
        "student_quantile": [[p, dof, float(stats.t.isf(p / 2, dof))] for dof in DOFS for p in TAILS],
        "chi_square_quantile": [
            [p, dof, float(stats.chi2.ppf(p, dof))] for dof in (1, 2, 3, 7, 30, 999) for p in (0.025, 0.5, 0.975)
        ],
        "welch": [welch(a, b) for a, b in ARMS],
    }
    Path(parser.parse_args().out).write_text(json.dumps(golden, indent=1) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
