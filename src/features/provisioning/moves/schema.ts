import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import {
  component,
  nullable,
  nullableString,
  nullableTimestamp,
  stringEnum,
  Type,
  timestamp,
  uuid,
} from '../../../api/schema.ts';
import { MOVE_STEPS } from '../../../database/tables/moves.ts';

const hostExample = { id: EXAMPLE_ID.host, name: 'web2', refusal: null };

const targetSchema = component(
  'MoveTarget',
  Type.Object({
    id: uuid(),
    name: Type.String(),
    refusal: nullableString('why the install cannot move there now; null if it can'),
  }),
  hostExample,
);

const latestExample = {
  operation_id: EXAMPLE_ID.operation,
  from: 'web1',
  to: 'web2',
  step: 'moved' as const,
  reason: null,
  requested_at: '2026-03-02T09:00:00.000Z',
  switched_at: '2026-03-02T09:04:10.000Z',
  has_copy: true,
};

const latestSchema = component(
  'LatestMove',
  Type.Object({
    operation_id: uuid('the operation of its work, for 30 days'),
    from: Type.String({ description: 'name of the former host' }),
    to: Type.String({ description: 'name of the new host' }),
    step: stringEnum(
      MOVE_STEPS,
      'Until `handing_over`, a failure leaves the website on the former host. `switched`: it is on the new one. `returned`: it is on the former one again',
    ),
    reason: nullableString('why it failed'),
    requested_at: timestamp(),
    switched_at: nullableTimestamp('when the new host took over'),
    has_copy: Type.Boolean({ description: 'whether the former host still has its copy, stopped' }),
  }),
  latestExample,
);

export const moveSchema = component(
  'Move',
  Type.Object(
    {
      host: nullableString('name of the host of the install'),
      hosts: Type.Array(targetSchema, { description: 'the other hosts' }),
      latest: nullable(latestSchema),
      return_loss: nullableString(
        'what a return to the former host loses; null if there is nothing to return from',
      ),
    },
    { description: 'Where an install is, and where it can move to' },
  ),
  { host: 'web1', hosts: [hostExample], latest: latestExample, return_loss: null },
);

export const moveRequestSchema = component(
  'MoveRequest',
  Type.Object({
    host: Type.String({ minLength: 1, maxLength: 200, description: 'name or id of the new host' }),
  }),
  { host: EXAMPLE_ID.host },
);
