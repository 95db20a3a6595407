import { describe, expect, test } from 'vitest';
import { parseProblem, refusalOf, shownDetail } from './problem.ts';
import { ERROR_NAMESPACE } from './refusal.ts';

const urn = (type: string) => `${ERROR_NAMESPACE}${type}`;

/** Types of RFC 8555 section 6.7 and RFC 9773 section 7.4, and whether the refusal is permanent. */
const TYPES: [type: string, permanent: boolean, says: RegExp][] = [
  ['accountDoesNotExist', false, /register it again/],
  ['alreadyReplaced', false, /already renewed .* a\.example/],
  ['alreadyRevoked', true, /a\.example has already been revoked/],
  ['badCSR', true, /request for a\.example/],
  ['badNonce', false, /try again/],
  ['badPublicKey', true, /type of key/],
  ['badRevocationReason', true, /revocation/],
  ['badSignatureAlgorithm', true, /new account/],
  ['caa', false, /CAA record .* a\.example; add one/],
  ['connection', false, /connect to a\.example.*port 80/],
  ['dns', false, /look up a\.example/],
  ['externalAccountRequired', true, /external account binding/],
  ['incorrectResponse', false, /wrong validation response from a\.example/],
  ['invalidContact', true, /email address/],
  ['malformed', false, /did not understand/],
  ['orderNotReady', false, /a\.example; Homeport will try again/],
  ['rateLimited', false, /rate limit for a\.example is reached/],
  ['rejectedIdentifier', true, /does not issue for a\.example/],
  ['serverInternal', false, /internal error/],
  ['tls', false, /TLS error from a\.example/],
  ['unauthorized', false, /wrong validation response from a\.example/],
  ['unsupportedContact', true, /email address/],
  ['unsupportedIdentifier', true, /names like a\.example/],
  ['userActionRequired', true, /terms of service/],
  ['neverHeardOf', false, /refused a certificate for a\.example/],
];

describe('refusalOf', () => {
  test.each(TYPES)('%s', (type, permanent, says) => {
    const refusal = refusalOf({ type: urn(type), detail: '' }, 'a.example');
    expect(refusal).toMatchObject({ type: urn(type), permanent, validationSpent: false, retryAfterMs: null });
    expect(refusal.message).toMatch(says);
    // One sentence.
    expect(refusal.message).toMatch(/^[A-Z].*[^.]\.$/);
    expect(refusal.message.slice(0, -1)).not.toMatch(/\.\s/);
  });

  test('explains only types of the ACME namespace', () => {
    const { message } = refusalOf({ type: 'urn:other:rateLimited', detail: '' }, 'a.example');
    expect(message).toBe('The certificate authority refused a certificate for a.example.');
  });

  test('keeps Retry-After, and needs no name', () => {
    const refusal = refusalOf({ type: urn('rateLimited'), detail: 'Slow down.' }, null, 5000);
    expect(refusal.retryAfterMs).toBe(5000);
    expect(refusal.message).toMatch(/for this domain .* \(details: Slow down\)\.$/);
  });
});

describe("the authority's detail", () => {
  test('is shown on one line without control or direction characters', () => {
    expect(shownDetail('  one\r\n\ttwo\u001b[31m \u202eeerht\u2028\u200b. ')).toBe('one two [31m eerht .');
  });

  test('is shortened between characters, not inside a surrogate pair', () => {
    const shown = shownDetail('🙂'.repeat(500));
    expect([...shown]).toHaveLength(200);
    expect(shown.endsWith('🙂…')).toBe(true);
  });

  test('shows no key authorization', () => {
    const expected = `${'t'.repeat(43)}.${'k'.repeat(43)}`;
    expect(shownDetail(`Expected "${expected}" (got "")`)).toBe('Expected "…" (got "")');
  });
});

describe('problem documents', () => {
  test.each([[null], ['text'], [[]], [{}], [{ type: 1 }], [{ detail: 'x' }]])(
    '%j is not a problem document',
    (body) => {
      expect(parseProblem(body)).toBeNull();
    },
  );

  test('a detail may be missing', () => {
    expect(parseProblem({ type: urn('dns'), status: 400 })).toEqual({ type: urn('dns'), detail: '' });
  });

  test('the first subproblem of a compound document counts', () => {
    const subproblems = [
      { type: urn('caa'), detail: 'forbidden', identifier: { type: 'dns', value: 'a.example' } },
      { type: urn('dns') },
    ];
    expect(parseProblem({ type: urn('compound'), detail: 'several', subproblems })).toEqual({
      type: urn('caa'),
      detail: 'forbidden',
    });
    expect(parseProblem({ type: urn('malformed'), detail: 'several', subproblems })?.type).toBe(
      urn('malformed'),
    );
    expect(parseProblem({ type: urn('compound'), subproblems: [] })?.type).toBe(urn('compound'));
  });
});
