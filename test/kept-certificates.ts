import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ownCertificateFile, ownKeyFile } from '../src/api/api-certificate.ts';
import type { Config } from '../src/config/config.ts';
import { layoutOf } from '../src/hosting/embedded/host-folder/layout.ts';

type Settings = Pick<Config, 'dataDir' | 'publicUrl' | 'siteDomain'>;

/** The self-signed certificates that a server makes at its first start, and the names they are for. */
function certificateFiles({ dataDir, publicUrl, siteDomain }: Settings): { file: string; of: string }[] {
  const { hostname } = new URL(publicUrl);
  return [
    { file: ownCertificateFile(dataDir), of: `API at ${hostname}` },
    { file: ownKeyFile(dataDir), of: `API at ${hostname}, key` },
    { file: layoutOf(join(dataDir, 'host')).edgeCertificate, of: `edge of ${siteDomain}` },
  ];
}

/** The files of the first server of this process for the same names. */
const kept = new Map<string, Buffer>();

/** Keeps the certificates of a running server for the next ones, which would need a tenth of their start to make their own. */
export function keepCertificates(settings: Settings): void {
  for (const { file, of } of certificateFiles(settings)) {
    if (!kept.has(of) && existsSync(file)) kept.set(of, readFileSync(file));
  }
}

/** Gives kept certificates to a server before its first start. It makes others if these expire soon by its clock. */
export function provideCertificates(settings: Settings): void {
  for (const { file, of } of certificateFiles(settings)) {
    const content = kept.get(of);
    if (content === undefined) continue;
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, content, { mode: 0o600 });
  }
}
