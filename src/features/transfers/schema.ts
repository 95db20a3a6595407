import { EXAMPLE_ID } from '../../api/example-ids.ts';
import {
  component,
  nullableString,
  nullableTimestamp,
  type Static,
  stringEnum,
  Type,
  timestamp,
  uuid,
} from '../../api/schema.ts';

const status = component(
  'SiteTransferStatus',
  stringEnum(['pending', 'scheduled', 'in_progress', 'completed', 'failed', 'cancelled']),
  'pending',
);

export const transferSchema = component(
  'SiteTransfer',
  Type.Object(
    {
      id: uuid(),
      site: uuid('id of the site'),
      site_name: Type.String({ description: 'name of the site at the time of the transfer' }),
      installs: Type.Array(uuid(), { description: 'ids of the installs of the site' }),
      install_names: Type.Array(Type.String(), { description: 'their names, in the same order' }),
      origin_account: uuid('id of the account that gives the site'),
      origin_account_name: Type.String(),
      destination_account: uuid('id of the account that gets the site'),
      destination_account_name: nullableString(
        'null until the transfer is completed, unless you belong to the account',
      ),
      status,
      awaits_acceptance: Type.Boolean({
        description: 'whether an owner of the destination must accept before the site is transferred',
      }),
      scheduled_time: nullableTimestamp('ISO 8601, UTC; null: as soon as it is accepted'),
      reason: nullableString('why it failed, or why Homeport cancelled it'),
      created_at: timestamp(),
      updated_at: timestamp(),
    },
    { description: 'A transfer of a site with its installs to another account' },
  ),
  {
    id: EXAMPLE_ID.transfer,
    site: EXAMPLE_ID.site,
    site_name: 'Shop',
    installs: [EXAMPLE_ID.install],
    install_names: ['shop'],
    origin_account: EXAMPLE_ID.account,
    origin_account_name: 'Example',
    destination_account: EXAMPLE_ID.otherAccount,
    destination_account_name: null,
    status: 'pending',
    awaits_acceptance: true,
    scheduled_time: null,
    reason: null,
    created_at: '2026-01-31T09:30:00.000Z',
    updated_at: '2026-01-31T09:30:00.000Z',
  },
);

export type TransferView = Static<typeof transferSchema>;

export const createTransferSchema = component(
  'CreateSiteTransfer',
  Type.Object({
    destination_account_id: uuid('id of the account that gets the site'),
    scheduled_time: Type.Optional(
      Type.Unsafe<string | null>({
        type: ['string', 'null'],
        format: 'date-time',
        description: 'at most 30 days ahead; null or omitted: as soon as it is accepted',
      }),
    ),
    maintenance_mode: Type.Optional(
      Type.Boolean({ default: false, description: 'has no effect: the website keeps running' }),
    ),
  }),
  { destination_account_id: EXAMPLE_ID.otherAccount },
);

export type WantedTransfer = Static<typeof createTransferSchema>;
