import { join } from 'node:path';
import { pino } from 'pino';
import { makeOwner } from '../../bench/measure/owner.ts';
import { ownCertificateFile } from '../../src/api/api-certificate.ts';
import { describedApi } from '../../src/app/description.ts';
import { startHomeport } from '../../src/app/homeport.ts';
import { readConfig } from '../../src/config/config.ts';

/** Starts a Homeport for the clients. Its data are in `folder`. */
export async function startServer(folder: string) {
  const dataDir = join(folder, 'data');
  const config = readConfig({
    HOMEPORT_DATA_DIR: dataDir,
    HOMEPORT_LISTEN: '127.0.0.1:0',
    HOMEPORT_EMBEDDED_PHP_MB: '0',
  });
  const log = pino({ level: 'silent' });
  const homeport = await startHomeport(config, { log }, { api: true, hosting: false });
  const origin = `https://127.0.0.1:${homeport.api?.port}`;
  const certificate = ownCertificateFile(dataDir);
  const { userId, accountId } = await makeOwner(homeport);
  const credential = await homeport.services.credentials.issue(userId, { name: 'clients' });
  return {
    description: describedApi(),
    /** The settings of the programs. The last two name the certificate, for Node and for Go and Python. */
    environment: {
      HOMEPORT_API_URL: `${origin}/v1`,
      HOMEPORT_API_USERNAME: credential.username,
      HOMEPORT_API_PASSWORD: credential.password,
      ACCOUNT_ID: accountId,
      NODE_EXTRA_CA_CERTS: certificate,
      SSL_CERT_FILE: certificate,
    },
    stop: () => homeport.stop(),
  };
}
