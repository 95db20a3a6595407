import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import { bodyRoute, pagedRoute, type Route, route } from '../../../api/route.ts';
import { component, type Static, Type, timestamp, uuid } from '../../../api/schema.ts';
import type { SshKeyService, SshKeyView } from './service.ts';

const sshKeySchema = component(
  'SshKey',
  Type.Object(
    {
      comment: Type.String({ description: 'the text after the key' }),
      created_at: timestamp(),
      fingerprint: Type.String({ description: 'MD5, 16 colon-separated hex pairs' }),
      uuid: uuid(),
    },
    { description: 'An SSH public key' },
  ),
  {
    comment: 'ada@laptop',
    created_at: '2026-01-31T09:30:00.000Z',
    fingerprint: '32:94:5c:ac:e0:64:8b:cd:3b:97:21:af:3f:36:8f:b9',
    uuid: EXAMPLE_ID.sshKey,
  },
);

const createSshKeySchema = component(
  'CreateSshKey',
  Type.Object({ public_key: Type.String({ description: 'OpenSSH public key format' }) }),
  {
    public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIpOfsW/o0C03ErwVYo6Ja75w2lG4MLANScTyWyi0uPk ada@laptop',
  },
);

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
      summary: 'List your SSH keys',
      description: 'Lists the SSH keys of the user of the credential, oldest first.',
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
      description:
        'Adds an Ed25519, ECDSA or RSA key (at least 2,048 bits). It opens SFTP connections to every install that you may use. A credential that expires cannot add keys.',
      tag,
      errors: [400, 401, 403, 429, 503],
      success: 201,
      response: sshKeySchema,
      location: (key) => `/ssh_keys/${key.uuid}`,
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
      summary: 'Remove an SSH key',
      description:
        'Removes an SSH key and ends the connections that use it. `ssh_key_id` is the `uuid` of the key.',
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
