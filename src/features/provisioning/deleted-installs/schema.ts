import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import { component, Type, timestamp, uuid } from '../../../api/schema.ts';

const EXAMPLE = {
  id: EXAMPLE_ID.install,
  name: 'myinstall',
  environment: 'production',
  domains: ['shop.example'],
  backup_count: 3,
  state: 'restorable' as const,
  reason: null,
  deleted_at: '2026-01-31T09:30:00.000Z',
  expires_at: '2026-02-14T09:30:00.000Z',
};

const deletedInstallSchema = component(
  'DeletedInstall',
  Type.Object(
    {
      id: uuid('the id that the install had, and has again after a restore'),
      name: Type.String(),
      environment: Type.Union([Type.String(), Type.Null()]),
      domains: Type.Array(Type.String(), { description: 'its own domains, without the default domain' }),
      backup_count: Type.Integer({ minimum: 0 }),
      state: Type.Enum(['deleting', 'restorable'], {
        description: '`deleting` until its last backup is made and its website is removed',
      }),
      reason: Type.Union([Type.String(), Type.Null()], {
        description: 'why the last backup could not be made, so that an earlier one is restored; else null',
      }),
      deleted_at: timestamp(),
      expires_at: timestamp('when its backups are deleted'),
    },
    { description: 'A deleted install whose backups are kept for a while' },
  ),
  EXAMPLE,
);

export const deletedInstallListSchema = component(
  'DeletedInstallList',
  Type.Object({ results: Type.Array(deletedInstallSchema) }),
  { results: [EXAMPLE] },
);
