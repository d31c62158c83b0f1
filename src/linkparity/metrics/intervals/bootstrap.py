"""Bootstrap intervals for the largest gap between weighted means."""

import numpy as np

RESAMPLES = 1000
BLOCK = 4096
#: Pairs of a group pair up to which sums are resampled, and cells up to which differences are.
MAX_EXACT = 25_000
MAX_PAIRWISE = 300


def resampled_sums(
    prob: np.ndarray,
    weight: np.ndarray,
    code: np.ndarray,
    cells: int,
    *,
    generator: np.random.Generator,
    resamples: int = RESAMPLES,
) -> tuple[np.ndarray, np.ndarray]:
    r"""Draws ``(B, G)`` of the sums of w h and of w per group pair, pairs being resampled.

    .. math:: \sum_k e_k w_k h_k, \quad \sum_k e_k w_k, \qquad e_k \sim \mathrm{Exp}(1)

    This is Rubin's bootstrap (1981): a pair weighs a random e instead of a random whole number,
    so that no cell is ever empty. The ratio of a cell's sums is its resampled mean, and cells that
    share no pair are independent. For a group pair of more than 25,000 pairs the two sums are
    drawn from their normal limit.
    """
    order = np.argsort(code, kind="stable")
    ends = np.searchsorted(code[order], np.arange(cells + 1))
    mass, total = np.zeros((resamples, cells)), np.zeros((resamples, cells))
    for g in range(cells):
        rows = order[ends[g] : ends[g + 1]]
        if not len(rows):
            continue
        h, w = prob[rows], weight[rows]
        mean = float(h @ w / w.sum())
        draw = _exponential if len(rows) <= MAX_EXACT else _normal
        off, total[:, g] = draw(w * (h - mean), w, generator, resamples)
        mass[:, g] = off + mean * total[:, g]
    return mass, total


def drawn_sums(
    count: np.ndarray,
    mean: np.ndarray,
    square: np.ndarray,
    *,
    generator: np.random.Generator,
    resamples: int = RESAMPLES,
) -> tuple[np.ndarray, np.ndarray]:
    r"""As :func:`resampled_sums`, from counts, means and squared distances ``(G,)`` alone.

    .. math:: \sum e \sim \Gamma(n), \qquad
              \frac{\sum e h}{\sum e} - \bar h \;\dot\sim\;
              N\Big(0, \frac{\sum (h - \bar h)^2}{n (n + 1)}\Big)

    for pairs of weight 1. The total is exact and independent of the mean, whose variance is exact
    too; only its distribution is approximated as normal.
    """
    size = (resamples, len(count))
    total = generator.standard_gamma(np.broadcast_to(count, size))
    spread = np.sqrt(square / np.maximum(count * (count + 1), 1))
    return total * (mean + spread * generator.standard_normal(size)), total


def gap_interval(mean: np.ndarray, draws: np.ndarray, confidence: float) -> tuple[float, float]:
    r"""Interval for the largest gap between ``mean (M,)``, given ``draws (B, M)`` of them.

    .. math:: [\max_{c,c'} (\bar h_c - \bar h_{c'} - t\, s_{cc'}),\
               \max_{c,c'} (\bar h_c - \bar h_{c'} + t\, s_{cc'})]

    with s the standard error of a difference over the draws and t the quantile of the largest
    :math:`|\Delta_c - \Delta_{c'}| / s_{cc'}`, where :math:`\Delta` is a draw minus the mean. The
    intervals of all differences hold simultaneously with the given confidence, and so does that of
    the largest. Quantiles of the drawn gaps would not do: a gap between noisy means is biased
    upwards, a gap between resampled ones twice, and at parity such an interval never includes 0.
    With more than 300 cells the intervals :math:`\pm t\, s_c` of all means are used in place of
    all differences, which is a little wider and linear in the number of cells.
    """
    off = draws - mean
    if len(mean) > MAX_PAIRWISE:
        return _by_cell(mean, off, confidence)
    cov = off.T @ off / len(off)
    spread = np.add.outer(np.diag(cov), np.diag(cov)) - 2 * cov
    error = np.sqrt(np.maximum(spread, 0.0))
    largest = np.zeros(len(off))
    for c in range(len(mean) - 1):
        s = error[c, c + 1 :]
        apart = np.abs(off[:, c + 1 :] - off[:, c, None])
        ratio = np.divide(apart, s, out=np.zeros_like(apart), where=s > 0)
        largest = np.maximum(largest, ratio.max(axis=1))
    t = float(np.quantile(largest, confidence))
    apart = np.subtract.outer(mean, mean)
    return max(float((apart - t * error).max()), 0.0), min(float((apart + t * error).max()), 1.0)


def _by_cell(mean: np.ndarray, off: np.ndarray, confidence: float) -> tuple[float, float]:
    error = np.sqrt((off**2).mean(axis=0))
    ratio = np.divide(np.abs(off), error, out=np.zeros_like(off), where=error > 0)
    half = error * float(np.quantile(ratio.max(axis=1), confidence))
    low = (mean - half).max() - (mean + half).min()
    high = (mean + half).max() - (mean - half).min()
    return max(float(low), 0.0), min(float(high), 1.0)


def _exponential(
    off: np.ndarray, weight: np.ndarray, generator: np.random.Generator, resamples: int
) -> tuple[np.ndarray, np.ndarray]:
    scale = np.abs(off).max() or 1.0
    columns = np.stack([off / scale, weight / weight.max()], axis=1).astype(np.float32)
    sums = np.zeros((resamples, 2))
    for start in range(0, len(columns), BLOCK):
        block = columns[start : start + BLOCK]
        sums += generator.standard_exponential((resamples, len(block)), dtype=np.float32) @ block
    return sums[:, 0] * scale, sums[:, 1] * weight.max()


def _normal(
    off: np.ndarray, weight: np.ndarray, generator: np.random.Generator, resamples: int
) -> tuple[np.ndarray, np.ndarray]:
    """Both sums from the normal law with their mean and covariance under Exp(1) weights."""
    cov = np.array([[off @ off, off @ weight], [off @ weight, weight @ weight]])
    mean = np.array([0.0, weight.sum()])
    sums = generator.multivariate_normal(
        mean, cov, size=resamples, method="eigh", check_valid="ignore"
    )
    return sums[:, 0], sums[:, 1]
