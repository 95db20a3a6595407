import { bodyRoute, pagedRoute, type Route, route } from '../../../api/route.ts';
import { type Static, Type, timestamp, uuid } from '../../../api/schema.ts';
import type { SshKeyService, SshKeyView } from './service.ts';

const sshKeySchema = Type.Object(
  {
    comment: Type.String({ description: 'the text after the key' }),
    created_at: timestamp(),
    fingerprint: Type.String({ description: 'MD5, 16 colon-separated hex pairs' }),
    uuid: uuid(),
  },
  { description: 'An SSH public key' },
);

const createSshKeySchema = Type.Object({
  public_key: Type.String({ description: 'OpenSSH public key format' }),
});

const invalidKey = { summary: 'Invalid SSH key format', message: 'SSH key must be in valid OpenSSH format' };

function presentSshKey(key: SshKeyView): Static<typeof sshKeySchema> {
  return { comment: key.comment, created_at: key.created_at, fingerprint: key.fingerprint_md5, uuid: key.id };
}

export function sshKeyRoutes(keys: SshKeyService): Route[] {
  const tag = 'SSH keys';
  return [
    pagedRoute({
      path: '/ssh_keys',
      operationId: 'listSshKeys',
      summary: 'Your SSH keys',
      tag,
      errors: [400, 401, 429, 503],
      item: sshKeySchema,
      async handle({ caller, page }) {
        const { count, results } = await keys.list(caller, page);
        return { count, results: results.map(presentSshKey) };
      },
    }),
    bodyRoute({
      method: 'POST',
      path: '/ssh_keys',
      operationId: 'createSshKey',
      summary: 'Add an SSH key',
      tag,
      errors: [400, 401, 403, 429, 503],
      success: 201,
      response: sshKeySchema,
      body: {
        resource: 'SshKey',
        schema: createSshKeySchema,
        texts: {
          public_key: {
            required: { ...invalidKey, message: 'SSH key cannot be empty' },
            invalid: { ...invalidKey, code: 'invalid_format' },
          },
        },
      },
      handle: async ({ caller }, body) => presentSshKey(await keys.add(caller, body.public_key)),
    }),
    route({
      method: 'DELETE',
      path: '/ssh_keys/:ssh_key_id',
      operationId: 'deleteSshKey',
      summary: 'Remove an SSH key and end its connections',
      tag,
      errors: [400, 401, 403, 429, 503],
      success: 204,
      handle: ({ caller, id }) => keys.remove(caller, id('ssh_key_id')),
    }),
  ];
}

const portalSshKeySchema = Type.Object({
  id: uuid(),
  comment: Type.String(),
  fingerprint_sha256: Type.String({ description: 'base64, as ssh-keygen -l shows it after `SHA256:`' }),
  fingerprint_md5: Type.String({ description: '16 colon-separated hex pairs, as in `/v1`' }),
  created_at: timestamp(),
});

/** The portal's list adds the SHA-256 fingerprint that current SSH programs show; the `/v1` list has no field for it. */
export function sshKeyPortalRoutes(keys: SshKeyService): Route[] {
  return [
    pagedRoute({
      path: '/ssh_keys',
      operationId: 'listSshKeys',
      summary: 'Your SSH keys, with both fingerprints',
      tag: 'SSH keys',
      errors: [400, 401, 403, 429, 503],
      item: portalSshKeySchema,
      handle: ({ caller, page }) => keys.list(caller, page),
    }),
  ];
}
