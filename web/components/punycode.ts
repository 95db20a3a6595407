/** The parameters of RFC 3492, section 5. */
const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const FIRST_BIAS = 72;
const FIRST_CODE_POINT = 0x80;
const LAST_CODE_POINT = 0x10ffff;

/** Decodes a label without its `xn--` (RFC 3492, section 6.2); null if it is invalid. */
export function decodePunycode(encoded: string): string | null {
  const delimiter = encoded.lastIndexOf('-');
  const codePoints = [...encoded.slice(0, Math.max(0, delimiter))].map(
    (letter) => letter.codePointAt(0) ?? 0,
  );
  const digits = [...encoded.slice(delimiter + 1)].map(digitOf);
  let [codePoint, bias, position, next] = [FIRST_CODE_POINT, FIRST_BIAS, 0, 0];
  while (next < digits.length) {
    const before = position;
    let weight = 1;
    for (let k = BASE; ; k += BASE) {
      const digit = digits[next];
      if (digit === undefined || digit === null) return null;
      next += 1;
      position += digit * weight;
      const threshold = Math.min(Math.max(k - bias, T_MIN), T_MAX);
      if (digit < threshold) break;
      weight *= BASE - threshold;
    }
    const length = codePoints.length + 1;
    bias = adapted(position - before, length, before === 0);
    codePoint += Math.floor(position / length);
    if (codePoint > LAST_CODE_POINT) return null;
    position %= length;
    codePoints.splice(position, 0, codePoint);
    position += 1;
  }
  return String.fromCodePoint(...codePoints);
}

/** Returns the value of a digit: letters are 0 to 25, digits 26 to 35. */
function digitOf(character: string): number | null {
  const digit = Number.parseInt(character, BASE);
  if (Number.isNaN(digit)) return null;
  return digit < 10 ? digit + 26 : digit - 10;
}

/** Bias adaptation (RFC 3492, section 6.1). */
function adapted(delta: number, length: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2));
  rest += Math.floor(rest / length);
  let k = 0;
  for (; rest > ((BASE - T_MIN) * T_MAX) / 2; k += BASE) rest = Math.floor(rest / (BASE - T_MIN));
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}
