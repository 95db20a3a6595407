import { pagedRoute, type Route } from '../../../api/route.ts';
import { Type, timestamp, uuid } from '../../../api/schema.ts';
import type { SshKeyService } from './service.ts';

const sshKeySchema = Type.Object({
  id: uuid(),
  comment: Type.String(),
  fingerprint_sha256: Type.String({ description: 'base64, as ssh-keygen -l shows it after `SHA256:`' }),
  fingerprint_md5: Type.String({ description: '16 colon-separated hex pairs, as `/v1` has it' }),
  created_at: timestamp(),
});

/** The keys with the fingerprint that today's programs show, which the API's own list has no place for. */
export function sshKeyPortalRoutes(keys: SshKeyService): Route[] {
  return [
    pagedRoute({
      path: '/ssh_keys',
      summary: 'Your SSH keys, with both fingerprints',
      tag: 'SSH keys',
      errors: [400, 401, 403, 429, 503],
      item: sshKeySchema,
      handle: ({ caller, page }) => keys.list(caller, page),
    }),
  ];
}
