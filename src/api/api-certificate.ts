import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext } from 'node:tls';
import type { Config } from '../config/config.ts';
import { createSelfSigned } from '../lib/certificates/self-signed-certificate.ts';
import type { Clock } from '../lib/clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import { messageOf } from '../lib/error-message.ts';
import { OperatorError } from '../lib/operator-error.ts';
import type { CertificatePair } from './secure-listener.ts';
import type { SharedCertificate } from './shared-certificate.ts';

const VALID_DAYS = 365;
const RENEW_BEFORE_DAYS = 30;

/** Path of the API's self-signed certificate, for `curl --cacert`. */
export function ownCertificateFile(dataDir: string): string {
  return join(dataDir, 'tls', 'api.crt');
}

/** Path of its private key. */
export function ownKeyFile(dataDir: string): string {
  return join(dataDir, 'tls', 'api.key');
}

/** Whether clients see the self-signed certificate, which they do not trust. Behind a proxy they see the proxy's certificate. */
export function showsOwnCertificate({
  tlsCert,
  trustProxy,
  publicUrl,
}: Pick<Config, 'tlsCert' | 'trustProxy' | 'publicUrl'>): boolean {
  return tlsCert === null && trustProxy.length === 0 && publicUrl.startsWith('https:');
}

/** PEM of the self-signed certificate that clients must trust; null if clients do not see it. */
export async function readOwnCertificate(
  config: Pick<Config, 'dataDir' | 'tlsCert' | 'trustProxy' | 'publicUrl'>,
): Promise<string | null> {
  return showsOwnCertificate(config) ? readFile(ownCertificateFile(config.dataDir), 'utf8') : null;
}

/**
 * The API's certificate: the configured files, or a self-signed one for localhost and the public URL's host. Creates and
 * renews the self-signed one. With `shared`, all processes of a platform have the same one, whatever their data folders. Throws OperatorError.
 */
export async function loadApiCertificate(
  config: Pick<Config, 'dataDir' | 'tlsCert' | 'tlsKey' | 'publicUrl'>,
  clock: Clock,
  shared: SharedCertificate | null = null,
): Promise<CertificatePair> {
  if (config.tlsCert !== null && config.tlsKey !== null) {
    const pair = {
      cert: readPem(config.tlsCert, 'HOMEPORT_TLS_CERT'),
      key: readPem(config.tlsKey, 'HOMEPORT_TLS_KEY'),
    };
    requireUsable(pair);
    return pair;
  }
  const names = certificateNames(config.publicUrl);
  const kept = readKept(config.dataDir);
  const stored = (await shared?.read()) ?? null;
  const good = [stored, kept].find((pair) => pair !== null && isGoodFor(pair, names, clock));
  const wanted = good ?? (await makePair(names, clock));
  const pair = shared === null || wanted === stored ? wanted : await shared.replace(stored, wanted);
  if (kept?.cert !== pair.cert || kept.key !== pair.key) keep(config.dataDir, pair);
  return pair;
}

async function makePair(names: string[], clock: Clock): Promise<CertificatePair> {
  const { chain, key } = await createSelfSigned({ names, notBefore: clock.now(), days: VALID_DAYS });
  return { cert: chain, key };
}

/** The pair in the data folder; null without one. */
function readKept(dataDir: string): CertificatePair | null {
  const [cert, key] = [ownCertificateFile(dataDir), ownKeyFile(dataDir)];
  if (!existsSync(cert) || !existsSync(key)) return null;
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}

function keep(dataDir: string, { cert, key }: CertificatePair): void {
  mkdirSync(join(dataDir, 'tls'), { recursive: true, mode: 0o700 });
  replaceFile(ownKeyFile(dataDir), key);
  replaceFile(ownCertificateFile(dataDir), cert);
}

function certificateNames(publicUrl: string): string[] {
  const host = new URL(publicUrl).hostname.replace(/^\[|\]$/g, '');
  return [...new Set(['localhost', host, '127.0.0.1', '::1'])];
}

function isGoodFor({ cert, key }: CertificatePair, names: string[], clock: Clock): boolean {
  try {
    const certificate = new X509Certificate(cert);
    const renewAt = certificate.validToDate.getTime() - RENEW_BEFORE_DAYS * DAY_MS;
    const covers = names.every((name) => certificate.checkHost(name) ?? certificate.checkIP(name));
    return covers && renewAt > clock.now().getTime() && certificate.checkPrivateKey(createPrivateKey(key));
  } catch {
    // Unreadable files (a full disk can truncate them) or a mismatched pair: the caller creates a new pair.
    return false;
  }
}

/** Throws an OperatorError unless a TLS server could use the pair. */
function requireUsable(pair: CertificatePair): void {
  try {
    createSecureContext(pair);
  } catch (error) {
    throw new OperatorError(
      'HOMEPORT_TLS_CERT and HOMEPORT_TLS_KEY must be PEM files of a certificate and of its private key ' +
        `(${messageOf(error)}).`,
    );
  }
}

function replaceFile(file: string, content: string): void {
  writeFileSync(`${file}.new`, content, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function readPem(file: string, variable: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new OperatorError(`${variable}: ${file} cannot be read (${messageOf(error)}).`);
  }
}
