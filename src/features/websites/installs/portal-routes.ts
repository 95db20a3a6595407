import { type Route, route } from '../../../api/route.ts';
import { Type } from '../../../api/schema.ts';
import type { ConnectionService } from './connection-service.ts';
import type { InstallService } from './service.ts';

const connectionSchema = Type.Object({
  host: Type.String(),
  port: Type.Integer(),
  username: Type.String(),
  shell: Type.Boolean({ description: 'whether SSH gives a shell besides SFTP' }),
  host_keys: Type.Array(
    Type.Object({
      type: Type.String({ description: 'as `ssh` names it: ED25519, ECDSA or RSA' }),
      fingerprint: Type.String({ description: 'as `ssh` shows it: SHA256 and base64' }),
      known_hosts: Type.String({ description: 'a line for known_hosts' }),
    }),
    { description: 'public keys of the host; empty if unknown' },
  ),
  http_url: Type.String(),
  https_url: Type.String(),
  website_url: Type.String({ description: 'address at which the website opens now' }),
});

const runningPhpSchema = Type.Object({
  version: Type.String({ description: '`major.minor`' }),
  engine: Type.Union([Type.Literal('machine'), Type.Literal('wasm')]),
});

/** Portal endpoints for an install that the public API lacks. */
export function installPortalRoutes(
  connections: ConnectionService,
  installs: Pick<InstallService, 'phpVersions'>,
): Route[] {
  const tag = 'Installs';
  return [
    route({
      method: 'GET',
      path: '/installs/:install_id/php_versions',
      operationId: 'listPhpVersions',
      summary:
        'PHP versions that the host of an install offers, newest first, and what runs it on the embedded host',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: Type.Object({
        versions: Type.Array(Type.String()),
        running: Type.Unsafe<import('typebox').Static<typeof runningPhpSchema> | null>({
          ...runningPhpSchema,
          type: ['object', 'null'],
        }),
      }),
      async handle({ caller, id }) {
        const { versions, running } = await installs.phpVersions(caller, id('install_id'));
        if (running === null) return { versions, running };
        // Why it is not the PHP of the machine is for operators: the reason may name folders of the host.
        const { version, engine } = running;
        return { versions, running: { version, engine } };
      },
    }),
    route({
      method: 'GET',
      path: '/installs/:install_id/connection',
      operationId: 'getConnection',
      summary: 'Addresses of the files and the website of an install; null until its host reports them',
      tag,
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: Type.Object({
        connection: Type.Unsafe<import('typebox').Static<typeof connectionSchema> | null>({
          ...connectionSchema,
          type: ['object', 'null'],
        }),
      }),
      handle: async ({ caller, id }) => ({
        connection: await connections.find(caller, id('install_id')),
      }),
    }),
  ];
}
