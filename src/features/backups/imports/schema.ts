import { component, stringEnum, Type } from '../../../api/schema.ts';
import { notificationEmails } from '../schema.ts';

export const IMPORT_SOURCES = ['file', 'url'] as const;

export const importWebsiteSchema = component(
  'ImportWebsite',
  Type.Object({
    source: stringEnum(IMPORT_SOURCES, '`file`: uploaded by SFTP; `url`: downloaded by the host'),
    path: Type.Optional(
      Type.String({
        minLength: 9,
        maxLength: 1_024,
        pattern: '^private/[^\\u0000-\\u001f\\u007f]+$',
        description:
          'the archive below the folder of the install, in `private/`, where visitors cannot download it; with the source `file`',
      }),
    ),
    url: Type.Optional(
      Type.String({
        maxLength: 4_096,
        pattern: '^https://[^\\u0000-\\u0020\\u007f]+$',
        description: 'a public address with `https`; with the source `url`',
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
