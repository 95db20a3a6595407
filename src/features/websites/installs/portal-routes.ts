import { type Route, route } from '../../../api/route.ts';
import { Type } from '../../../api/schema.ts';
import type { ConnectionService } from './connection-service.ts';

const connectionSchema = Type.Object({
  host: Type.String(),
  port: Type.Integer(),
  username: Type.String(),
  shell: Type.Boolean({ description: 'whether there is a shell, besides SFTP' }),
  host_keys: Type.Array(
    Type.Object({
      type: Type.String({ description: 'as `ssh` names it: ED25519, ECDSA or RSA' }),
      fingerprint: Type.String({ description: 'as `ssh` shows it: SHA256 and base64' }),
      known_hosts: Type.String({ description: 'the line of known_hosts' }),
    }),
    { description: 'by which the host is known; none where it does not tell' },
  ),
  http_url: Type.String(),
  https_url: Type.String(),
  website_url: Type.String({ description: 'by which the website can be opened now' }),
});

/** What the portal shows of an install besides what the API tells. */
export function installPortalRoutes(connections: ConnectionService): Route[] {
  const tag = 'Installs';
  return [
    route({
      method: 'GET',
      path: '/installs/:install_id/connection',
      summary: 'How to reach the files and the website of an install; null where no host has told yet',
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
