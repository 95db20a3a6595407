import type { RelyingParty } from './relying-party.ts';
import type { Assertion, Registration } from './schema.ts';

/** COSE algorithms in the order of preference: EdDSA, ES256, RS256. Every authenticator has one of them. */
export const ALGORITHMS: readonly number[] = [-8, -7, -257];

/** Bytes of a public key. An RSA key of 4,096 bits has 526; a longer one would make each check slow. */
const LONGEST_KEY = 600;

/** Loaded with the first answer of a passkey, because it takes 27 MB of memory. */
const loadLibrary = () => import('@simplewebauthn/server');
const loadDecoders = () => import('@simplewebauthn/server/helpers');

/** The challenge that the browser says it answered; undefined if the page was in a frame of another website, or the data is malformed. */
export function answeredChallenge(clientDataJSON: string): string | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
  if (typeof parsed !== 'object' || parsed === null || !('challenge' in parsed)) return undefined;
  const { challenge } = parsed;
  const isFramed = 'crossOrigin' in parsed && parsed.crossOrigin !== false;
  return typeof challenge === 'string' && !isFramed ? challenge : undefined;
}

export interface VerifiedRegistration {
  credentialId: string;
  /** COSE, base64url. */
  publicKey: string;
  counter: number;
  aaguid: string;
  /** The authenticator has put a copy in a password manager. */
  synced: boolean;
}

/** Verifies a new passkey (WebAuthn, section 7.1). Returns undefined if anything is wrong. User verification is required. */
export async function verifyRegistration(
  { id: rpId, origin }: RelyingParty,
  { id, response }: Registration,
  challenge: string,
): Promise<VerifiedRegistration | undefined> {
  const { verifyRegistrationResponse } = await loadLibrary();
  if (!(await isWithoutCertificates(response.attestationObject))) return undefined;
  const { registrationInfo } = await verifyRegistrationResponse({
    response: {
      id,
      rawId: id,
      type: 'public-key',
      response: { clientDataJSON: response.clientDataJSON, attestationObject: response.attestationObject },
      clientExtensionResults: {},
    },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: true,
    supportedAlgorithmIDs: [...ALGORITHMS],
  }).catch(refused);
  // The browser's id must be the one that the authenticator signed.
  if (registrationInfo?.credential.id !== id) return undefined;
  const { credential, aaguid, credentialBackedUp } = registrationInfo;
  if (credential.publicKey.length > LONGEST_KEY) return undefined;
  return {
    credentialId: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
    counter: credential.counter,
    aaguid,
    synced: credentialBackedUp,
  };
}

/**
 * Whether an attestation carries no certificate. We ask for none, and the library would fetch revocation lists from URLs in
 * certificates, which anyone could aim at our network.
 */
async function isWithoutCertificates(attestationObject: string): Promise<boolean> {
  const { decodeAttestationObject } = await loadDecoders();
  try {
    const decoded = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')));
    const format = decoded.get('fmt');
    return format === 'none' || (format === 'packed' && decoded.get('attStmt').get('x5c') === undefined);
  } catch {
    return false;
  }
}

export interface VerifiedAssertion {
  counter: number;
  synced: boolean;
}

/**
 * Verifies the signature of a passkey (WebAuthn, section 7.2). Returns undefined if anything is wrong. User verification is required.
 * The caller compares the counter, because only a right signature makes it the authenticator's.
 */
export async function verifyAssertion(
  { id: rpId, origin }: RelyingParty,
  { id, response }: Assertion,
  { publicKey, challenge }: { publicKey: string; challenge: string },
): Promise<VerifiedAssertion | undefined> {
  const { verifyAuthenticationResponse } = await loadLibrary();
  const { verified, authenticationInfo } = await verifyAuthenticationResponse({
    response: {
      id,
      rawId: id,
      type: 'public-key',
      response: {
        clientDataJSON: response.clientDataJSON,
        authenticatorData: response.authenticatorData,
        signature: response.signature,
      },
      clientExtensionResults: {},
    },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
    requireUserVerification: true,
    credential: { id, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')), counter: 0 },
  }).catch(refused);
  if (!verified || !authenticationInfo) return undefined;
  return { counter: authenticationInfo.newCounter, synced: authenticationInfo.credentialBackedUp };
}

/** The library rejects wrong answers with an error. */
const refused = () => ({
  verified: false as const,
  registrationInfo: undefined,
  authenticationInfo: undefined,
});
