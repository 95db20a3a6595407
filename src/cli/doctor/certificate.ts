import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { ownCertificateFile, ownKeyFile } from '../../api/api-certificate.ts';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/durations.ts';
import { codeOf } from '../../lib/error-code.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';
import { GROUP, OTHERS, octal } from './permissions.ts';

const CHECK = 'certificate';
/** A running server renews its certificate 30 days before the end, so with fewer days no server runs. */
const WARN_DAYS = { own: 28, configured: 14 };
const LOCAL_HOSTS = ['localhost', '127.0.0.1', '::1'];

type Settings = Pick<Config, 'dataDir' | 'tlsCert' | 'tlsKey' | 'publicUrl' | 'trustProxy'>;

/** Checks the API's certificate: validity, key and public URL. */
export function checkCertificate(settings: Settings, clock: Clock): Finding[] {
  const own = settings.tlsCert === null;
  const certificateFile = settings.tlsCert ?? ownCertificateFile(settings.dataDir);
  const keyFile = settings.tlsKey ?? ownKeyFile(settings.dataDir);
  let read: { certificate: X509Certificate; key: string; keyMode: number };
  try {
    read = {
      certificate: new X509Certificate(readFileSync(certificateFile)),
      key: readFileSync(keyFile, 'utf8'),
      keyMode: statSync(keyFile).mode,
    };
  } catch (error) {
    return [unreadable(error, own, certificateFile)];
  }
  const { certificate, key, keyMode } = read;
  return [
    checkKeyFile(keyFile, keyMode, own),
    checkPair(certificate, key, certificateFile, own) ??
      checkName(certificate, settings, own) ??
      checkValidity(certificate, own, clock),
  ];
}

function unreadable(error: unknown, own: boolean, file: string): Finding {
  if (own && (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR')) {
    return ok(CHECK, 'The next start creates a self-signed one.');
  }
  return problem(
    CHECK,
    `The certificate in ${file}, or its key, cannot be read: ${reasonOf(error)}.`,
    own
      ? `Let this user read the files; if they are damaged, delete them, and the next start creates new ones.`
      : 'Make the files in HOMEPORT_TLS_CERT and HOMEPORT_TLS_KEY readable for this user; both must be PEM.',
  );
}

/** A configured key may be readable by a group. Only its user may read Homeport's own key. */
function checkKeyFile(file: string, mode: number, own: boolean): Finding {
  const check = 'TLS key';
  return (mode & (own ? GROUP | OTHERS : OTHERS)) === 0
    ? ok(check, 'Others cannot read it.')
    : problem(check, `Others have access to ${file} (mode ${octal(mode)}).`, `chmod 600 ${file}`);
}

function checkPair(
  certificate: X509Certificate,
  key: string,
  file: string,
  own: boolean,
): Finding | undefined {
  const remedy = own
    ? `Delete ${file}; the next start creates both.`
    : 'Set HOMEPORT_TLS_CERT and HOMEPORT_TLS_KEY to a certificate and its key.';
  try {
    if (certificate.checkPrivateKey(createPrivateKey(key))) return undefined;
    return problem(CHECK, `The certificate in ${file} and its key do not match.`, remedy);
  } catch (error) {
    return problem(
      CHECK,
      `The key of the certificate in ${file} cannot be used: ${reasonOf(error)}.`,
      remedy,
    );
  }
}

function checkName(
  certificate: X509Certificate,
  { publicUrl, trustProxy }: Settings,
  own: boolean,
): Finding | undefined {
  const host = new URL(publicUrl).hostname.replace(/^\[|\]$/g, '');
  // Behind a proxy, clients see the proxy's certificate.
  if (trustProxy.length > 0) return undefined;
  if (!(isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host))) {
    return own
      ? warning(
          CHECK,
          `It is not for ${host}, the host of HOMEPORT_PUBLIC_URL.`,
          'Restart Homeport to create a new one.',
        )
      : problem(
          CHECK,
          `It is not for ${host}, the host of HOMEPORT_PUBLIC_URL, so clients will refuse it.`,
          `Get a certificate for ${host}, or correct HOMEPORT_PUBLIC_URL.`,
        );
  }
  if (own && !LOCAL_HOSTS.includes(host)) {
    return warning(
      CHECK,
      `It is self-signed, and clients of ${publicUrl} do not trust it.`,
      'Set HOMEPORT_TLS_CERT and HOMEPORT_TLS_KEY, or put a proxy in front (HOMEPORT_TRUST_PROXY).',
    );
  }
  return undefined;
}

function checkValidity({ validFromDate, validToDate }: X509Certificate, own: boolean, clock: Clock): Finding {
  const now = clock.now().getTime();
  const renew = own
    ? 'Restart Homeport to create a new one.'
    : 'Renew it. Homeport loads the new files within a day, or at a restart.';
  if (validFromDate.getTime() > now) {
    return problem(CHECK, `It is valid from ${day(validFromDate)}.`, 'Check the clock of this machine.');
  }
  const days = Math.floor((validToDate.getTime() - now) / DAY_MS);
  if (days < 0) return problem(CHECK, `It expired on ${day(validToDate)}.`, renew);
  const left = `It is valid until ${day(validToDate)}, ${days} more days`;
  if (days < (own ? WARN_DAYS.own : WARN_DAYS.configured)) return warning(CHECK, `${left} only.`, renew);
  return ok(CHECK, `${left}, and matches its key.`);
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}
