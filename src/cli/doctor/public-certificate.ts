import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { ownCertificateFile, showsOwnCertificate } from '../../api/api-certificate.ts';
import { hasPublicCertificate, publicCertificateFile, publicFolder } from '../../api/public-certificate.ts';
import type { Config } from '../../config/config.ts';
import { type Finding, ok, warning } from './finding.ts';

const CHECK = 'public certificate';
const TRAVERSABLE = 0o001;

/** Checks that clients of other users can read the self-signed certificate. */
export function checkPublicCertificate(
  config: Pick<Config, 'dataDir' | 'tlsCert' | 'trustProxy' | 'publicUrl'>,
): Finding[] {
  const { dataDir } = config;
  // The first start creates both files.
  if (!showsOwnCertificate(config) || !existsSync(ownCertificateFile(dataDir))) return [];
  const file = publicCertificateFile(dataDir);
  const folder = publicFolder(dataDir);
  if (!hasPublicCertificate(dataDir)) {
    return [
      warning(
        CHECK,
        `Clients of other users cannot read the certificate: ${file} is missing, outdated, or others can replace it.`,
        `As root: install -d -o ${statSync(dataDir).uid} -m 755 ${folder}; then restart Homeport. For homeport.service run "homeport host setup".`,
      ),
    ];
  }
  const closed = closedFolder(folder);
  return [
    closed === null
      ? ok(CHECK, `Clients of all users can read ${file}.`)
      : ok(CHECK, `${closed} is closed to other users; their clients need a copy of ${file}.`),
  ];
}

/** The nearest folder on the path that other users cannot enter. */
function closedFolder(path: string): string | null {
  if ((statSync(path).mode & TRAVERSABLE) === 0) return path;
  return path === dirname(path) ? null : closedFolder(dirname(path));
}
