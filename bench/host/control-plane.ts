import { Agent } from 'undici';
import { field } from '../../test/client.ts';
import { serveHomeport, temporaryFolder } from '../measure/processes.ts';
import { seedAccount } from '../measure/seed.ts';
import type { BenchHost } from './bench-host.ts';
import { withCleanup } from './cleanup.ts';

/** Homeport's API, called by an account owner over HTTPS. */
export interface Api {
  accountId: string;
  /** Returns the response body. Rejects with the response unless it is a success. */
  call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<unknown>;
}

/** Runs a control plane for that host, as `npm start` would, during `work`. */
export async function withControlPlane<Result>(
  { machine }: BenchHost,
  work: (api: Api) => Promise<Result>,
): Promise<Result> {
  const folder = temporaryFolder();
  return withCleanup(
    async () => folder.remove(),
    async () => {
      const { accountId, authorization } = await seedAccount({ databaseUrl: null, dataDir: folder.path }, 0);
      const server = await serveHomeport(folder.path, undefined, {
        ...machine.environment,
        // Nothing listens there, so no name is looked up and no backup is made during measurements.
        HOMEPORT_RESOLVERS: '127.0.0.1:9',
        HOMEPORT_BACKUP_DAYS: '0',
      });
      const agent = new Agent({ connect: { ca: server.ca, servername: 'localhost' } });
      const cleanup = async () => {
        await agent.close();
        await server.stop();
      };
      return withCleanup(cleanup, () =>
        work({
          accountId,
          async call(method, path, body) {
            const answer = await agent.request({
              origin: server.origin,
              method,
              path: `/v1${path}`,
              headers: { authorization, ...(body ? { 'content-type': 'application/json' } : {}) },
              ...(body ? { body: JSON.stringify(body) } : {}),
            });
            const text = await answer.body.text();
            if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text}`);
            return text === '' ? undefined : JSON.parse(text);
          },
        }),
      );
    },
  );
}

export async function statusOf(api: Api, installId: string): Promise<unknown> {
  return field(await api.call('GET', `/installs/${installId}`), 'status');
}
