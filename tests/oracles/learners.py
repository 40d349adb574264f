"""The equations of learning models, one number at a time, as slow as they are in the papers."""

import math


def sustain(X, y, classes, r, beta, d, eta, coded=None):
    """Return P(category) before each trial, clusters, weights and tunings (Love et al., 2004).

    Nominal dimensions. `X` are tuples of values, `y` numbers of categories.
    """
    m = len(X[0])
    values = [sorted({x[i] for x in X}) for i in range(m)]
    code = [[[1.0 if x[i] == v else 0.0 for v in values[i]] for i in range(m)] for x in X]
    clusters, weights, tuning, trace = [], [], [1.0] * m, []

    def distances(x, H):  # eq. 4
        return [0.5 * sum(abs(a - b) for a, b in zip(x[i], H[i], strict=True)) for i in range(m)]

    def activation(x, H):  # eq. 5
        mu = distances(x, H)
        above = sum(tuning[i] ** r * math.exp(-tuning[i] * mu[i]) for i in range(m))
        return above / sum(tuning[i] ** r for i in range(m))

    for x, k in zip(code, y, strict=True):
        C = [0.0] * classes
        if clusters:
            act = [activation(x, H) for H in clusters]
            win = act.index(max(act))
            out = act[win] ** beta / sum(a**beta for a in act) * act[win]  # eq. 6
            C = [weights[win][c] * out for c in range(classes)]  # eq. 7
        e = [math.exp(d * c) for c in C]
        trace.append([v / sum(e) for v in e])  # eq. 8
        wrong = not clusters
        if clusters:
            biggest = max(C)
            wrong = any(c == biggest and j != k for j, c in enumerate(C))  # eq. 10
            wrong = wrong and sum(distances(x, clusters[win])) > 0
        if wrong:
            clusters.append([list(part) for part in x])
            weights.append([0.0] * classes)
            win = len(clusters) - 1
            act = [activation(x, H) for H in clusters]
            out = act[win] ** beta / sum(a**beta for a in act) * act[win]
            C = [0.0] * classes
        mu = distances(x, clusters[win])
        for c in range(classes):  # eq. 9 and 14
            t = max(C[c], 1.0) if c == k else min(C[c], 0.0)
            weights[win][c] += eta * (t - C[c]) * out
        H = clusters[win]
        for i in range(m):  # eq. 12
            H[i] = [b + eta * (a - b) for a, b in zip(x[i], H[i], strict=True)]
        for i in range(m):  # eq. 13
            tuning[i] += eta * math.exp(-tuning[i] * mu[i]) * (1 - tuning[i] * mu[i])
    return trace, [[v for part in H for v in part] for H in clusters], weights, tuning


def associative(kind, X, y, classes, beta, rho=0.0, theta=1.0, start=1.0, least=0.1):
    """Return P(outcome) before each trial, strengths and associabilities of the cues."""
    cues = len(X[0])
    V, alpha, trace = [[0.0] * classes for _ in range(cues)], [start] * cues, []
    for x, k in zip(X, y, strict=True):
        total = [sum(V[i][c] * x[i] for i in range(cues)) for c in range(classes)]
        e = [math.exp(theta * v) for v in total]
        trace.append([v / sum(e) for v in e])
        lam = [1.0 if c == k else 0.0 for c in range(classes)]
        V_before, alpha_before = [list(row) for row in V], list(alpha)
        for i in range(cues):
            if not x[i]:
                continue
            own = [V_before[i][c] * x[i] for c in range(classes)]
            others = [total[c] - own[c] for c in range(classes)]
            for c in range(classes):
                if kind == "rescorla-wagner":
                    V[i][c] += beta * (lam[c] - total[c]) * x[i]
                elif kind == "mackintosh":
                    V[i][c] += alpha_before[i] * beta * (lam[c] - own[c]) * x[i]
                elif lam[c] >= total[c]:
                    V[i][c] += alpha_before[i] * beta * lam[c] * x[i]
                else:
                    V[i][c] -= alpha_before[i] * beta * abs(lam[c] - total[c]) * x[i]
            if kind == "mackintosh":
                gain = sum(abs(lam[c] - others[c]) - abs(lam[c] - own[c]) for c in range(classes))
                alpha[i] = min(1.0, max(least, alpha_before[i] + rho * gain / classes))
            elif kind == "pearce-hall":
                error = sum(abs(lam[c] - total[c]) for c in range(classes)) / classes
                alpha[i] = rho * error + (1 - rho) * alpha_before[i]
    return trace, V, alpha


def exit_model(X, y, classes, H, sigma, c, P, phi, shift, rate, gain_rate, steps=10):
    """Return P(category) before each trial and the associations (Kruschke, 2001, appendix)."""
    cues = range(len(X[0]))
    w = [[0.0] * classes for _ in cues]
    v = [[0.0 for _ in cues] for _ in H]
    trace = []
    for x, k in zip(X, y, strict=True):
        a = [math.exp(-c * sum(sigma[i] * abs(h[i] - x[i]) for i in cues)) for h in H]
        g = [x[i] * sigma[i] * math.exp(sum(v[j][i] * a[j] for j in range(len(H)))) for i in cues]

        def respond(g, x=x):
            norm = sum(value**P for value in g) ** (1 / P)
            alpha = [value / norm if norm else 0.0 for value in g]
            out = [sum(alpha[i] * w[i][m] * x[i] for i in cues) for m in range(classes)]
            return norm, alpha, out

        norm, alpha, out = respond(g)
        e = [math.exp(phi * value) for value in out]
        trace.append([value / sum(e) for value in e])
        t = [1.0 if m == k else 0.0 for m in range(classes)]
        before = list(g)
        for _ in range(steps):
            new = list(g)
            for i in cues:
                if x[i]:
                    down = sum(
                        (t[m] - out[m]) * (w[i][m] * x[i] - alpha[i] ** (P - 1) * out[m])
                        for m in range(classes)
                    )
                    new[i] = max(0.0, g[i] + shift * down / norm) if norm else g[i]
            g = new
            norm, alpha, out = respond(g)
        for i in cues:
            for m in range(classes):
                w[i][m] += rate * (t[m] - out[m]) * alpha[i] * x[i]
            for j in range(len(H)):
                v[j][i] += gain_rate * (g[i] - before[i]) * a[j] * H[j][i] * before[i]
    return trace, w


def rational(X, y, classes, c, alpha, label_alpha):
    """Return P(category) before each trial and the cluster of each (Anderson, 1991, local MAP)."""
    values = [sorted({x[i] for x in X}) for i in range(len(X[0]))]
    clusters, trace, partition = [], [], []
    for n, (x, k) in enumerate(zip(X, y, strict=True)):
        prior = [c * len(members) / (1 - c + c * n) for members in clusters]
        prior.append((1 - c) / (1 - c + c * n))
        fits, answers = [], []
        for members in [*clusters, []]:
            fit = 1.0
            for i, value in enumerate(x):
                same = sum(z[i] == value for z, _ in members)
                fit *= (same + alpha) / (len(members) + alpha * len(values[i]))
            fits.append(fit)
            answers.append(
                [
                    (sum(label == m for _, label in members) + label_alpha)
                    / (len(members) + label_alpha * classes)
                    for m in range(classes)
                ]
            )
        joint = [p * f for p, f in zip(prior, fits, strict=True)]
        trace.append(
            [sum(j * a[m] for j, a in zip(joint, answers, strict=True)) / sum(joint)
             for m in range(classes)]
        )  # fmt: skip
        posterior = [j * a[k] for j, a in zip(joint, answers, strict=True)]
        most = max(posterior) * (1 - 1e-9)  # of equals the oldest, whatever was rounded
        best = next(i for i, value in enumerate(posterior) if value >= most)
        if best == len(clusters):
            clusters.append([])
        clusters[best].append((x, k))
        partition.append(best)
    return trace, partition


def diva(X, y, v, w, rate, focus=0.0, choice=1.0, error="squares"):
    """Return P(category) before each trial from given first weights (Kurtz, 2007).

    Slopes are those of the error by small differences: backpropagation has nothing to hide.
    """

    def logistic(value):
        return 1 / (1 + math.exp(-value))

    def draw(x, k, v, w):
        inputs = [2 * a - 1 for a in x] + [1.0]
        h = [logistic(sum(a * b for a, b in zip(row, inputs, strict=True))) for row in v] + [1.0]
        return [logistic(sum(a * b for a, b in zip(row, h, strict=True))) for row in w[k]]

    def loss(x, k, v, w):
        if error == "cross-entropy":
            pairs = zip(x, draw(x, k, v, w), strict=True)
            return -sum(a * math.log(b) + (1 - a) * math.log(1 - b) for a, b in pairs)
        return 0.5 * sum((a - b) ** 2 for a, b in zip(x, draw(x, k, v, w), strict=True))

    trace = []
    for x, k in zip(X, y, strict=True):
        drawn = [draw(x, m, v, w) for m in range(len(w))]
        weights = [math.exp(focus * (max(o) - min(o))) for o in zip(*drawn, strict=True)]
        errors = [
            sum(f * (a - b) ** 2 for f, a, b in zip(weights, x, o, strict=True)) for o in drawn
        ]
        shares = [error**-choice for error in errors]
        trace.append([share / sum(shares) for share in shares])
        places = [(v, (j, i)) for j in range(len(v)) for i in range(len(v[0]))]
        places += [(w[k], (i, j)) for i in range(len(w[k])) for j in range(len(w[k][0]))]
        changes = []
        for table, (a, b) in places:
            kept = table[a][b]
            table[a][b] = kept + 1e-6
            high = loss(x, k, v, w)
            table[a][b] = kept - 1e-6
            low = loss(x, k, v, w)
            table[a][b] = kept
            changes.append((high - low) / 2e-6)
        for (table, (a, b)), slope in zip(places, changes, strict=True):
            table[a][b] -= rate * slope
    return trace


# ---- COVIS, with the random numbers of SplitMix64 written out -----------------------------------

MASK = 2**64 - 1


def mix(state, value):
    z = (state + 0x9E3779B97F4A7C15 * (value + 1)) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def coin(state):
    return ((state >> 11) + 0.5) / 2**53


def normal(state):
    radius = math.sqrt(-2 * math.log(coin(mix(state, 1))))
    return radius * math.cos(2 * math.pi * coin(mix(state, 2)))


def covis(stimuli, codes, order, signs, p, seed=0):
    """Return answers, who spoke, saliences, weights and trust (Ashby, Paul & Maddox, 2011)."""
    d, units = len(stimuli[0]), stimuli
    chance = mix(0, seed)
    for n in order:
        chance = mix(chance, n)
    widest = max(abs(value - p["criterion"]) for x in stimuli for value in x)
    answers, spoke, most, predicted, trust = [], [], 0.0, 0.0, p["trust"]
    for t, n in enumerate(order):
        chance = mix(chance, t)
        if t == 0:
            salience = [1 / d] * d
            rule = min(int(coin(mix(chance, 1)) * d), d - 1)
            w = [[0.001 + 0.0025 * coin(mix(chance, 1000 + 2 * k + J)) for J in range(2)]
                 for k in range(len(units))]  # fmt: skip
        x, right = stimuli[n], codes[n]
        hE = signs[rule] * (x[rule] - p["criterion"]) + p["rule_noise"] * normal(mix(chance, 3))
        said = int(hE > 0)
        act = [
            math.exp(-sum((a - b) ** 2 for a, b in zip(x, u, strict=True)) / p["width"])
            for u in units
        ]
        S = [
            p["noise"] * normal(mix(chance, 4 + J))
            + sum(w[k][J] * act[k] for k in range(len(units)))
            for J in range(2)
        ]
        hP = S[1] - S[0]
        did = int(hP > 0)
        most = max(most, abs(hP))
        explicit = trust * abs(hE) / widest > (1 - trust) * (abs(hP) / most if most else 0)
        answers.append(said if explicit else did)
        spoke.append(int(explicit))
        if said == right:
            salience[rule] += p["right"]
            trust += p["trust_up"] * (1 - trust)
        else:
            salience[rule] -= p["wrong"]
            trust -= p["trust_down"] * trust
            Y = [s + (p["perseveration"] if i == rule else 0) for i, s in enumerate(salience)]
            number, product = 0, coin(mix(chance, 12))
            while product > math.exp(-p["curiosity"]):
                number += 1
                product *= coin(mix(chance, 12 + number))
            Y[min(int(coin(mix(chance, 11)) * d), d - 1)] += number
            Y = [max(y, 0) ** p["sharpness"] for y in Y]
            left, rule = coin(mix(chance, 10)) * sum(Y), d - 1
            for i, y in enumerate(Y):
                left -= y
                if left <= 0:
                    rule = i
                    break
        reward = 1 if did == right else -1
        error = reward - predicted
        D = 1 if error > 1 else 0 if error < -0.25 else 0.8 * error + 0.2
        for k in range(len(units)):
            strong, weak = (
                max(S[did] - p["nmda"], 0),
                max(max(p["nmda"] - S[did], 0) - p["ampa"], 0),
            )
            v = w[k][did]
            v += (
                p["up"] * act[k] * strong * max(D - p["baseline"], 0) * (1 - w[k][did])
                - p["down"] * act[k] * strong * max(p["baseline"] - D, 0) * w[k][did]
                - p["decay"] * act[k] * weak * w[k][did]
            )
            w[k][did] = min(max(v, 0), 1)
        predicted += 0.025 * error
    return answers, spoke, salience, w, trust
