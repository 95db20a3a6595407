import { ERROR_NAMESPACE } from './refusal.ts';

/** `sentence`: for people, without the full stop. `permanent`: the same again is refused again until something changes. */
export interface Meaning {
  sentence: string;
  permanent: boolean;
}

type Wording = (name: string) => string;

const passing = (wording: Wording) => ({ wording, permanent: false });
const lasting = (wording: Wording) => ({ wording, permanent: true });

/**
 * What each type of RFC 8555 section 6.7, RFC 9773 section 7.4 means to who owns the name. What
 * the owner mends outside of Homeport (DNS, reach) is no lasting refusal: it shows by trying again.
 */
const MEANINGS = new Map(
  Object.entries({
    accountDoesNotExist: passing(
      () => 'The certificate authority does not know our account; it has to be registered again',
    ),
    alreadyReplaced: passing(
      (name) => `The certificate authority has renewed the certificate of ${name} before`,
    ),
    alreadyRevoked: lasting((name) => `The certificate of ${name} has been revoked already`),
    badCSR: lasting((name) => `The certificate authority does not accept our request for ${name}`),
    badNonce: passing(
      () => 'The certificate authority did not accept our requests in time; it will be tried again',
    ),
    badPublicKey: lasting(() => 'The certificate authority does not accept the kind of our keys'),
    badRevocationReason: lasting(
      () => 'The certificate authority does not accept the reason of the revocation',
    ),
    badSignatureAlgorithm: lasting(
      () => 'The certificate authority does not accept the signatures of our account; it needs a new account',
    ),
    caa: passing(
      (name) => `A CAA record forbids the certificate authority to issue for ${name}; add one that allows it`,
    ),
    connection: passing(
      (name) => `The certificate authority could not connect to ${name}; it must be reachable on port 80`,
    ),
    dns: passing(
      (name) =>
        `The certificate authority could not look up ${name} in the DNS; check its A and AAAA records`,
    ),
    externalAccountRequired: lasting(
      () =>
        'The certificate authority needs an account that exists with it already (external account binding); configure another authority',
    ),
    incorrectResponse: passing(
      (name) =>
        `What ${name} answered the certificate authority was not our proof; its DNS records must all point here`,
    ),
    invalidContact: lasting(
      () => 'The certificate authority does not accept the mail address that is configured as contact',
    ),
    malformed: passing(() => 'The certificate authority did not understand our request'),
    orderNotReady: passing(
      (name) => `The certificate authority was not ready to issue for ${name}; it will be tried again`,
    ),
    rateLimited: passing(
      (name) => `The certificate authority issues no more for ${name} for now, as a limit is reached`,
    ),
    rejectedIdentifier: lasting((name) => `The certificate authority does not issue for ${name}`),
    serverInternal: passing(() => 'The certificate authority has a fault of its own; it will be tried again'),
    tls: passing(
      (name) => `The certificate authority met a TLS fault at ${name}; check where its address redirects to`,
    ),
    unauthorized: passing(
      (name) =>
        `What ${name} answered the certificate authority was not our proof; its DNS records must all point here`,
    ),
    unsupportedContact: lasting(
      () => 'The certificate authority does not support the mail address that is configured as contact',
    ),
    unsupportedIdentifier: lasting(
      (name) => `The certificate authority does not issue for names such as ${name}`,
    ),
    userActionRequired: lasting(
      () => 'The certificate authority waits for the operator; its terms of service have to be agreed to',
    ),
  }),
);

/** What a problem's type means for `name`; null where the matter is about no one name. */
export function meaningOf(type: string, name: string | null): Meaning {
  const known = type.startsWith(ERROR_NAMESPACE)
    ? MEANINGS.get(type.slice(ERROR_NAMESPACE.length))
    : undefined;
  const meaning = known ?? passing((of) => `The certificate authority refused a certificate for ${of}`);
  return { sentence: meaning.wording(name ?? 'this domain'), permanent: meaning.permanent };
}
