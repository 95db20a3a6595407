import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { assignName, type Claim } from './claims.ts';

let counter = 0;
function claim(account: string, more: Partial<Claim> = {}): Claim {
  counter += 1;
  const ids = { id: `domain ${counter}`, install_id: `install ${counter}`, account_id: account };
  return { ...ids, serves: false, needs_proof: false, verified: false, ...more };
}

const NOTHING = { gains: undefined, loses: undefined, needProof: [], freed: [] };

describe('a name is served by', () => {
  it('the install that serves it, if no account has verified the domain', () => {
    const claims = [claim('a', { serves: true }), claim('b', { needs_proof: true }), claim('a')];
    expect(assignName(claims)).toEqual(NOTHING);
  });

  it('the account that has verified it, even if another one served the name', () => {
    const [first, twin, owner] = [claim('b', { serves: true }), claim('b'), claim('a', { verified: true })];
    expect(assignName([first, twin, owner])).toEqual({
      gains: owner,
      loses: first,
      needProof: [first, twin],
      freed: [],
    });
  });

  it('the first of two accounts that have both verified it', () => {
    const claims = [claim('b', { serves: true, verified: true }), claim('a', { verified: true })];
    expect(assignName(claims)).toEqual(NOTHING);
  });

  it('the oldest claim that needs no verification, after its release', () => {
    const [foreign, heir, next] = [claim('b', { needs_proof: true }), claim('a'), claim('a')];
    expect(assignName([foreign, heir, next])).toEqual({ ...NOTHING, gains: heir });
  });

  it('no claim after its release, while all need verification', () => {
    expect(assignName([claim('b', { needs_proof: true }), claim('c', { needs_proof: true })])).toEqual(
      NOTHING,
    );
  });

  it('the present claim, while a new one of the same account needs no verification', () => {
    const twin = claim('a', { needs_proof: true });
    expect(assignName([claim('a', { serves: true }), twin])).toEqual({ ...NOTHING, freed: [twin] });
  });
});

it('assigning a name is idempotent, and at most one claim serves it', () => {
  const accounts = fc.record({ a: fc.boolean(), b: fc.boolean(), c: fc.boolean() });
  const drafts = fc.array(
    fc.record({
      account: fc.constantFrom('a' as const, 'b' as const, 'c' as const),
      needs_proof: fc.boolean(),
    }),
    { maxLength: 6 },
  );
  fc.assert(
    fc.property(accounts, drafts, fc.nat(5), (proven, list, at) => {
      const claims = list.map(({ account, needs_proof }, index) => {
        const serves = index === at;
        return claim(account, { serves, needs_proof: !serves && needs_proof, verified: proven[account] });
      });
      const { gains, loses, needProof, freed } = assignName(claims);
      const after = claims.map((one) => ({
        ...one,
        serves: one === gains || (one.serves && one !== loses),
        needs_proof: one !== gains && (needProof.includes(one) || (one.needs_proof && !freed.includes(one))),
      }));
      expect(after.filter(({ serves }) => serves).length).toBeLessThanOrEqual(1);
      expect(after.filter(({ serves, needs_proof }) => serves && needs_proof)).toEqual([]);
      expect(assignName(after)).toEqual(NOTHING);
      if (claims.some(({ verified: isProven }) => isProven)) {
        expect(after.find(({ serves }) => serves)?.verified).toBe(true);
      }
    }),
  );
});
