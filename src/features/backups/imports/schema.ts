import { component, stringEnum, Type, timestamp } from '../../../api/schema.ts';
import { SITE_PATTERN, SSH_PATTERNS } from '../../../hosting/contract/imports.ts';
import { notificationEmails } from '../schema.ts';
import { IMPORT_SOURCES, SSH_PORT } from './source.ts';

export const importWebsiteSchema = component(
  'ImportWebsite',
  Type.Object({
    source: stringEnum(
      IMPORT_SOURCES,
      '`file`: an archive uploaded by SFTP; `url`: an archive that the host downloads; `ssh`: the old host, with the import key of the install; it needs the capability `imports_by_ssh`',
    ),
    path: Type.Optional(
      Type.String({
        pattern: SSH_PATTERNS.path,
        description:
          'with the source `file`: the archive, below `private/` in the folder of the install, which is `.private/` in the document root on the embedded host; with `ssh`: the folder of WordPress on the old host, absolute or from the home of the user',
      }),
    ),
    url: Type.Optional(
      Type.String({
        maxLength: 4_096,
        pattern: '^https://[^\\u0000-\\u0020\\u007f]+$',
        description: 'a public address with `https`; with the source `url`',
      }),
    ),
    site: Type.Optional(
      Type.String({
        pattern: SITE_PATTERN,
        description:
          'which website of the archive, by its domain or its folder, such as `shop.example` or `public_html/shop`. Needed if the archive has several: without it, the operation fails with the code `import_refused` and a message that lists them; nothing is changed. With the source `file` or `url`',
      }),
    ),
    host: Type.Optional(
      Type.String({
        pattern: SSH_PATTERNS.host,
        description: 'the public name or address of the old host; with the source `ssh`',
      }),
    ),
    port: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 65_535,
        default: SSH_PORT,
        description: 'the port of its SSH server; with the source `ssh`',
      }),
    ),
    user: Type.Optional(
      Type.String({ pattern: SSH_PATTERNS.user, description: 'your user there; with the source `ssh`' }),
    ),
    host_key: Type.Optional(
      Type.String({
        pattern: SSH_PATTERNS.hostKey,
        description:
          'the fingerprint of the SSH server, as `ssh-keygen -l` shows it. Without it, the operation fails with the code `import_refused` and a message that names the fingerprint; nothing is changed. With the source `ssh`',
      }),
    ),
    create_checkpoint: Type.Optional(
      Type.Boolean({
        description:
          'back up the install first, and put that backup back if the imported website does not answer; true by default',
      }),
    ),
    notification_emails: Type.Optional(
      notificationEmails('addresses notified when the import succeeds or fails'),
    ),
  }),
  { source: 'file', path: 'private/website.zip', notification_emails: ['ada@example.com'] },
);

export const importKeySchema = component(
  'ImportKey',
  Type.Object(
    {
      public_key: Type.String({ description: 'a line for `~/.ssh/authorized_keys` of the old host' }),
      created_at: timestamp(),
    },
    { description: 'The public key with which an install signs in to the old host for an import' },
  ),
  {
    public_key:
      'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBKMvsN4n2cPZ1Uxq1nQIv3FvVwzo5xP5NDVzjVhR4bUKq0y6d1QXkVx0s7Hd0zJ5mJZ7b5o0cWk3v9f2q8r4t6E= homeport-import-shop',
    created_at: '2026-01-31T09:30:00.000Z',
  },
);
