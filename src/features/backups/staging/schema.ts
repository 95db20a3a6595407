import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import { component, Type, uuid } from '../../../api/schema.ts';
import { INSTALL_NAME_PATTERN } from '../../websites/installs/schema.ts';
import { notificationEmails, tableNames } from '../schema.ts';

export const createStagingSchema = component(
  'CreateStaging',
  Type.Object({
    name: Type.String({
      pattern: INSTALL_NAME_PATTERN,
      description: 'name of the new install, as for `POST /installs`',
    }),
  }),
  { name: 'shop-next' },
);

export const pushInstallSchema = component(
  'PushInstall',
  Type.Object({
    to: Type.Optional(
      uuid('the install to replace, of the same account; by default the production install of the same site'),
    ),
    include_files: Type.Boolean({ description: 'whether the files are replaced' }),
    include_db: Type.Boolean({ description: 'whether the database is replaced' }),
    db_tables: Type.Optional(tableNames),
    notification_emails: Type.Optional(
      notificationEmails('addresses notified when the copy succeeds or fails'),
    ),
  }),
  { to: EXAMPLE_ID.otherInstall, include_files: true, include_db: true },
);
