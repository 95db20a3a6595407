import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import ssh2, { type AuthContext, type PublicKeyAuthContext } from 'ssh2';
import type { SshLogin, SshQuestions } from '../../contract/questions.ts';

/** The signed-in user and key. */
export interface SignedIn {
  login: SshLogin;
  /** The name given by the client, which is the install's name. */
  name: string;
  fingerprintSha256: string;
}

/** RSA signatures must use SHA-2 (RFC 8332); SHA-1 signatures have no hash algorithm here. */
const RSA_HASHES = ['sha256', 'sha512'];

/**
 * Answers one sign-in attempt. Only public keys are accepted; the signature proves that the client has the private key. An unknown name,
 * an unauthorized key and a wrong signature get the same response.
 *
 * @returns the signed-in user; null if the attempt failed or the client only probed a key
 */
export async function authenticate(
  attempt: AuthContext,
  questions: SshQuestions,
  log: Logger,
): Promise<SignedIn | null> {
  if (attempt.method !== 'publickey') {
    attempt.reject(['publickey']);
    return null;
  }
  const fingerprintSha256 = createHash('sha256').update(attempt.key.data).digest('base64').replace(/=+$/, '');
  const name = attempt.username;
  const who = { install: name, fingerprint: fingerprintSha256 };
  if (!isPossible(attempt)) {
    log.info(who, 'a client offered an SSH key of an unsupported type');
    attempt.reject(['publickey']);
    return null;
  }
  const login = await ask(questions, name, fingerprintSha256, log);
  if (login === null) {
    log.info(who, 'a client offered an unauthorized SSH key');
    attempt.reject(['publickey']);
    return null;
  }
  if (attempt.signature === undefined) {
    attempt.accept();
    return null;
  }
  if (!isSigned(attempt)) {
    log.warn(who, 'a client sent a wrong SSH signature');
    attempt.reject(['publickey']);
    return null;
  }
  attempt.accept();
  return { login, name, fingerprintSha256 };
}

async function ask(
  questions: SshQuestions,
  name: string,
  fingerprintSha256: string,
  log: Logger,
): Promise<SshLogin | null> {
  try {
    return await questions.sshLogin(name, fingerprintSha256);
  } catch (err) {
    log.error({ err, install: name }, 'an SSH sign-in could not be checked and is refused');
    return null;
  }
}

function isPossible(attempt: PublicKeyAuthContext): boolean {
  const key = keyOf(attempt);
  if (key === null) return false;
  return key.type !== 'ssh-rsa' || RSA_HASHES.includes(attempt.hashAlgo ?? '');
}

function isSigned(attempt: PublicKeyAuthContext): boolean {
  const { blob, signature, hashAlgo } = attempt;
  const key = keyOf(attempt);
  if (key === null || blob === undefined || signature === undefined) return false;
  return key.verify(blob, signature, hashAlgo) === true;
}

/** The offered key, if it has the named algorithm and no bytes beyond the fingerprinted key. */
function keyOf({ key: { algo, data } }: PublicKeyAuthContext): ssh2.ParsedKey | null {
  const parsed = ssh2.utils.parseKey(data);
  if (parsed instanceof Error) return null;
  const [key, ...further] = Array.isArray(parsed) ? parsed : [parsed];
  if (key === undefined || further.length > 0) return null;
  const isSame = !key.isPrivateKey() && key.type === algo && key.getPublicSSH().equals(data);
  return isSame ? key : null;
}
