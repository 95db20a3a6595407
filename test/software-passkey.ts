import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { isoCBOR } from '@simplewebauthn/server/helpers';
import { text } from './client.ts';

type CborValue = Parameters<typeof isoCBOR.encode>[0];

/** What an authenticator or its browser does differently from a correct one. */
export interface Quirks {
  origin?: string;
  rpId?: string;
  challenge?: string;
  type?: string;
  crossOrigin?: boolean;
  /** User verification, for example by fingerprint. */
  verified?: boolean;
  counter?: number;
  userHandle?: string;
  /** Signs other data than it sends. */
  forged?: boolean;
  /** The attestation format and statement. */
  attestation?: { fmt: string; attStmt: Map<string, CborValue> };
}

/** A passkey in software, with the browser that it is used in (WebAuthn, sections 6.1 and 6.5). */
export interface SoftwarePasskey {
  id: string;
  /** Answers creation options. */
  create(options: unknown, quirks?: Quirks): object;
  /** Answers request options. */
  answer(options: unknown, quirks?: Quirks): object;
}

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest();

export function softwarePasskey(home: { origin: string }, aaguid = Buffer.alloc(16)): SoftwarePasskey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const credentialId = randomBytes(32);
  const id = credentialId.toString('base64url');
  const coseKey = new Map<number, number | Uint8Array>([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, new Uint8Array(Buffer.from(x, 'base64url'))],
    [-3, new Uint8Array(Buffer.from(y, 'base64url'))],
  ]);
  let user = '';

  const clientData = (type: string, options: unknown, quirks: Quirks) =>
    Buffer.from(
      JSON.stringify({
        type: quirks.type ?? type,
        challenge: quirks.challenge ?? text(options, 'challenge'),
        origin: quirks.origin ?? home.origin,
        crossOrigin: quirks.crossOrigin ?? false,
      }),
    );

  function authenticatorData(rpId: string, flags: number, { verified = true, counter = 0 }: Quirks): Buffer {
    const counted = Buffer.alloc(4);
    counted.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags | 1 | (verified ? 4 : 0)]), counted]);
  }

  return {
    id,
    create(options, quirks = {}) {
      user = text(options, 'user', 'id');
      const length = Buffer.alloc(2);
      length.writeUInt16BE(credentialId.length);
      const authData = Buffer.concat([
        authenticatorData(quirks.rpId ?? text(options, 'rp', 'id'), 0x40, quirks),
        aaguid,
        length,
        credentialId,
        isoCBOR.encode(coseKey),
      ]);
      const { fmt, attStmt } = quirks.attestation ?? { fmt: 'none', attStmt: new Map() };
      const attestation = new Map<string, CborValue>([
        ['fmt', fmt],
        ['attStmt', attStmt],
        ['authData', new Uint8Array(authData)],
      ]);
      return {
        id,
        rawId: id,
        type: 'public-key',
        response: {
          clientDataJSON: clientData('webauthn.create', options, quirks).toString('base64url'),
          attestationObject: Buffer.from(isoCBOR.encode(attestation)).toString('base64url'),
          transports: ['internal', 'hybrid'],
        },
      };
    },
    answer(options, quirks = {}) {
      const data = clientData('webauthn.get', options, quirks);
      const authData = authenticatorData(quirks.rpId ?? text(options, 'rpId'), 0, quirks);
      const signed = Buffer.concat([authData, sha256(quirks.forged ? Buffer.from('{}') : data)]);
      return {
        id,
        rawId: id,
        type: 'public-key',
        response: {
          clientDataJSON: data.toString('base64url'),
          authenticatorData: authData.toString('base64url'),
          signature: sign('sha256', signed, privateKey).toString('base64url'),
          userHandle: quirks.userHandle ?? user,
        },
      };
    },
  };
}
