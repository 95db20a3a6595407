import { describe, expect, it } from 'vitest';
import { displayName } from './display-name.ts';
import { decodePunycode } from './punycode.ts';

describe('Punycode', () => {
  it.each([
    // The first two from RFC 3492, section 7.1: (B) and (L).
    ['ihqwcrb4cv8a8dqg056pqjye', '他们为什么不说中文'],
    ['3b-ww4c5e180e575a65lsy2b', '3年b組金八先生'],
    ['bro-hoa', 'büro'],
    ['mgbh0fb', 'مثال'],
    ['28j2a3ar1p', 'こんにちは'],
    ['ls8h', '💩'],
  ])('%s is %s', (encoded, decoded) => {
    expect(decodePunycode(encoded)).toBe(decoded);
  });

  it.each(['9', 'zzzzzzzz99999', 'bro-ho!', 'b-ü'])('rejects %s', (encoded) => {
    expect(decodePunycode(encoded)).toBeNull();
  });
});

describe('displayName', () => {
  it.each([
    ['xn--bro-hoa.example', 'büro.example'],
    ['www.xn--wgv71a119e.example', 'www.日本語.example'],
    ['xn--mller-kva.xn--straen-eta.example', 'müller.straßen.example'],
    ['*.xn--bcher-kva.example', '*.bücher.example'],
    ['xn--hxajbheg2az3al.example', 'παράδειγμα.example'],
  ])('shows %s as %s with its ASCII form', (name, written) => {
    expect(displayName(name)).toBe(`${written} (${name})`);
  });

  it.each(['shop.example', '*.shop.example', 'xn--.example', 'xn--zzzzzzzz99999.example'])(
    'leaves %s unchanged',
    (name) => {
      expect(displayName(name)).toBe(name);
    },
  );

  it('does not decode a name that would resolve differently', () => {
    // The encodings of "BÜRO" (which the DNS knows as "büro"), of plain letters, and of an invisible letter.
    for (const name of ['xn--BRO-tka.example', 'xn--shop-.example', 'xn--a-ugn.example']) {
      expect(displayName(name)).toBe(name);
    }
  });
});
