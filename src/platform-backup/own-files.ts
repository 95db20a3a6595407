import { ownCertificateFile, ownKeyFile } from '../api/api-certificate.ts';
import type { Config } from '../config/config.ts';
import type { HostFile } from './website-parts.ts';

/** The API's generated certificate and key, by their names in the data folder; empty if the operator configured others. */
export function ownFiles({ dataDir, tlsCert }: Pick<Config, 'dataDir' | 'tlsCert'>): HostFile[] {
  if (tlsCert !== null) return [];
  return [
    { name: 'tls/api.crt', file: ownCertificateFile(dataDir) },
    { name: 'tls/api.key', file: ownKeyFile(dataDir) },
  ];
}
