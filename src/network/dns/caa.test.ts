import { describe, expect, it } from 'vitest';
import { caaRefusal } from './caa.ts';
import type { CaaRecord } from './record.ts';

const account = 'https://acme.test/account/1';

function refusal(records: [flag: number, tag: string, value: string][], name = 'www.example.test') {
  const hdr = { name: 'example.test', rrtype: 257, class: 1, ttl: 60, rdlength: 20 };
  const caa: CaaRecord[] = records.map(([flag, tag, value]) => ({ type: 'CAA', hdr, flag, tag, value }));
  return caaRefusal(name, caa, { identities: ['CA.test', 'other-ca.test'], accountUrl: account });
}

describe('caaRefusal', () => {
  it.each<[string, [number, string, string][]]>([
    ['no record', []],
    ['no issue at all', [[0, 'iodef', 'mailto:x@example.test']]],
    ['its own name', [[0, 'issue', 'ca.test']]],
    [
      'its own name among others',
      [
        [0, 'issue', 'else.test'],
        [0, 'issue', 'other-ca.test'],
      ],
    ],
    ['its own name in capitals', [[0, 'ISSUE', 'CA.TEST']]],
    ['its own name with blanks', [[0, 'issue', ' ca.test ; ']]],
    ['a known property that is critical', [[128, 'issue', 'ca.test']]],
    [
      'an unknown property that is not critical',
      [
        [0, 'tbs', 'x'],
        [0, 'issue', 'ca.test'],
      ],
    ],
    ['its own account', [[0, 'issue', `ca.test; accounturi=${account}`]]],
    ['its own validation method', [[0, 'issue', 'ca.test; validationmethods=dns-01,http-01']]],
    ['an unknown parameter', [[0, 'issue', 'ca.test; policy=ev']]],
    ['issuewild of another, for a plain name', [[0, 'issuewild', 'else.test']]],
  ])('allows: %s', (_, records) => {
    expect(refusal(records)).toBeNull();
  });

  it.each<[string, [number, string, string][], RegExp]>([
    [
      'another authority',
      [[0, 'issue', 'else.test']],
      /allow only else\.test.*add the CAA record 0 issue "ca\.test" to example\.test/,
    ],
    ['no authority', [[0, 'issue', ';']], /forbid every authority/],
    ['an empty value', [[0, 'issue', '']], /forbid every authority/],
    ['a malformed value', [[0, 'issue', 'ca.test; a b c']], /forbid every authority/],
    [
      'an unknown critical property',
      [
        [128, 'tbs', 'x'],
        [0, 'issue', 'ca.test'],
      ],
      /"tbs".*critical/,
    ],
    ['another account', [[0, 'issue', 'ca.test; accounturi=https://acme.test/account/2']], /another account/],
    ['another validation method', [[0, 'issue', 'ca.test; validationmethods=dns-01']], /http-01/],
  ])('refuses: %s', (_, records, sentence) => {
    expect(refusal(records)).toMatch(sentence);
  });

  it('replaces issue by issuewild for wildcards', () => {
    expect(
      refusal(
        [
          [0, 'issue', 'ca.test'],
          [0, 'issuewild', ';'],
        ],
        '*.example.test',
      ),
    ).toMatch(/forbid/);
    expect(
      refusal(
        [
          [0, 'issue', ';'],
          [0, 'issuewild', 'ca.test'],
        ],
        '*.example.test',
      ),
    ).toBeNull();
    expect(refusal([[0, 'issue', 'else.test']], '*.example.test')).toMatch(/else\.test/);
  });

  it('ignores accounturi before the account is registered', () => {
    const hdr = { name: 'example.test', rrtype: 257, class: 1, ttl: 60, rdlength: 20 };
    const value = 'ca.test; accounturi=https://acme.test/account/2';
    const caa: CaaRecord[] = [{ type: 'CAA', hdr, flag: 0, tag: 'issue', value }];
    expect(caaRefusal('example.test', caa, { identities: ['ca.test'], accountUrl: null })).toBeNull();
  });
});
