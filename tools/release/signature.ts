import { readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { OLDEST_GLIBC } from './oldest-glibc.ts';
import { outputOf, type Run } from './run.ts';

/** The name under which releases are signed, as the signer and as the purpose: ssh-keygen(1), ALLOWED SIGNERS. */
export const SIGNER = 'homeport-release';
export const SIGNATURE = 'SHA256SUMS.sig';

/** The keys of a release, by their files. */
export interface SigningKeys {
  /** Private key of OpenSSH, or the public one of a key that an agent holds. */
  key: string;
  /** Public key that signs later releases, if it is another one. This release accepts both. */
  next: string | null;
}

/** The keys that the environment names; null if a release is not signed. */
export function signingKeys(environment: Record<string, string | undefined>): SigningKeys | null {
  const { HOMEPORT_RELEASE_KEY: key, HOMEPORT_RELEASE_NEXT_KEY: next } = environment;
  if (key === undefined || key === '') return null;
  return { key: resolve(key), next: next ? resolve(next) : null };
}

/** The lines of a file of allowed signers that accepts these keys for releases only. Throws an Error for a file that is no key. */
export async function allowedSigners({ key, next }: SigningKeys): Promise<string> {
  const own = key.endsWith('.pub')
    ? await readFile(key, 'utf8')
    : await outputOf('ssh-keygen', ['-y', '-f', key], '/');
  const others = next === null ? [] : [await readFile(next, 'utf8')];
  return [own, ...others].map(signerLine).join('\n');
}

function signerLine(publicKey: string): string {
  const [kind = '', code = ''] = publicKey.trim().split(/\s+/);
  if (!/^(ssh|ecdsa|sk)-[\w@.-]+$/.test(kind) || !/^[\w+/]+=*$/.test(code)) {
    throw new Error('A key of the release is no public key of OpenSSH.');
  }
  return `${SIGNER} namespaces="${SIGNER}" ${kind} ${code}`;
}

/** Signs a file into {@link SIGNATURE} beside it. */
export async function sign(folder: string, file: string, { key }: SigningKeys, run: Run): Promise<void> {
  await rm(join(folder, SIGNATURE), { force: true });
  await run('ssh-keygen', ['-Y', 'sign', '-q', '-f', key, '-n', SIGNER, file], folder);
}

/**
 * Writes the installer of a release, which accepts what these signers have signed. `address`: where the release is published; empty if
 * people have to name it.
 */
export async function writeInstaller(
  { template, file }: { template: string; file: string },
  { signers, address }: { signers: string; address: string },
): Promise<void> {
  if (/['\s]/.test(address)) throw new Error(`"${address}" is no address of releases.`);
  const text = await readFile(template, 'utf8');
  await writeFile(
    file,
    text
      .replace('@SIGNERS@', () => signers)
      .replace('@ADDRESS@', () => address)
      .replace('@GLIBC@', () => OLDEST_GLIBC),
    {
      mode: 0o755,
    },
  );
}
