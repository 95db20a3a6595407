import { ERROR_NAMESPACE } from './refusal.ts';

export interface Meaning {
  /** For people, without the full stop. */
  sentence: string;
  /** The same request is refused again until something changes. */
  permanent: boolean;
}

type Wording = (name: string) => string;

const passing = (wording: Wording) => ({ wording, permanent: false });
const lasting = (wording: Wording) => ({ wording, permanent: true });

/**
 * Sentences for the domain's owner, one for each error type of RFC 8555 section 6.7 and RFC 9773 section 7.4. Problems
 * that owners fix outside of Homeport (DNS, reachability) are not permanent, because only another try shows the fix.
 */
const MEANINGS = new Map(
  Object.entries({
    accountDoesNotExist: passing(
      () => 'The certificate authority does not know our account; Homeport will register it again',
    ),
    alreadyReplaced: passing(
      (name) => `The certificate authority has already renewed the certificate of ${name}`,
    ),
    alreadyRevoked: lasting((name) => `The certificate of ${name} has already been revoked`),
    badCSR: lasting((name) => `The certificate authority does not accept our request for ${name}`),
    badNonce: passing(
      () => 'The certificate authority did not accept our requests in time; Homeport will try again',
    ),
    badPublicKey: lasting(() => 'The certificate authority does not accept our type of key'),
    badRevocationReason: lasting(
      () => 'The certificate authority does not accept the reason for the revocation',
    ),
    badSignatureAlgorithm: lasting(
      () => 'The certificate authority does not accept our account key; a new account is needed',
    ),
    caa: passing(
      (name) =>
        `A CAA record forbids the certificate authority to issue a certificate for ${name}; add one that allows it`,
    ),
    connection: passing(
      (name) => `The certificate authority could not connect to ${name}; make it reachable on port 80`,
    ),
    dns: passing(
      (name) =>
        `The certificate authority could not look up ${name} in the DNS; check its A and AAAA records`,
    ),
    externalAccountRequired: lasting(
      () => 'The certificate authority requires external account binding; configure another authority',
    ),
    incorrectResponse: passing(
      (name) =>
        `The certificate authority got a wrong validation response from ${name}; make all its DNS records point here`,
    ),
    invalidContact: lasting(
      () => 'The certificate authority does not accept the configured contact email address',
    ),
    malformed: passing(() => 'The certificate authority did not understand our request'),
    orderNotReady: passing(
      (name) => `The certificate authority was not ready to issue for ${name}; Homeport will try again`,
    ),
    rateLimited: passing(
      (name) =>
        `The certificate authority's rate limit for ${name} is reached; Homeport will try again later`,
    ),
    rejectedIdentifier: lasting((name) => `The certificate authority does not issue for ${name}`),
    serverInternal: passing(() => 'The certificate authority has an internal error; Homeport will try again'),
    tls: passing(
      (name) =>
        `The certificate authority got a TLS error from ${name}; check where its address redirects to`,
    ),
    unauthorized: passing(
      (name) =>
        `The certificate authority got a wrong validation response from ${name}; make all its DNS records point here`,
    ),
    unsupportedContact: lasting(
      () => 'The certificate authority does not support the configured contact email address',
    ),
    unsupportedIdentifier: lasting(
      (name) => `The certificate authority does not issue for names like ${name}`,
    ),
    userActionRequired: lasting(
      () => 'The certificate authority is waiting for the operator to agree to its terms of service',
    ),
  }),
);

/** Explains a problem type for `name`; null if the request was not about a name. */
export function meaningOf(type: string, name: string | null): Meaning {
  const known = type.startsWith(ERROR_NAMESPACE)
    ? MEANINGS.get(type.slice(ERROR_NAMESPACE.length))
    : undefined;
  const meaning = known ?? passing((of) => `The certificate authority refused a certificate for ${of}`);
  return { sentence: meaning.wording(name ?? 'this domain'), permanent: meaning.permanent };
}
