import Type from 'typebox';
import { closed, orNull, text, uuid, wordpressVersion } from './message-values.ts';
import { newer } from './sent-value.ts';
import { MOST_CHECKED_PAGES, MOST_UPDATES } from './wordpress-updates.ts';

// Schemas of updates of WordPress in messages between the control plane and a host (protocol.ts).

export const itemId = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000-\\u001f\\u007f]*$' });
const wantedItems = Type.Union([Type.Literal('all'), Type.Array(itemId, { maxItems: MOST_UPDATES })]);

export const wantedUpdates = Type.Object(
  { core: orNull(wordpressVersion), plugins: wantedItems, themes: wantedItems },
  closed,
);

export const availableUpdate = Type.Object({
  kind: Type.Union([Type.Literal('core'), Type.Literal('plugin'), Type.Literal('theme')]),
  id: itemId,
  name: text(200),
  from: text(200),
  to: text(200),
});

/** A path of a website, with a query. */
export const checkedPath = Type.String({ minLength: 1, maxLength: 500, pattern: '^/[\\u0021-\\u007e]*$' });

export const updateOrder = Type.Object(
  {
    updateId: uuid,
    checkpointId: uuid,
    updates: Type.Array(availableUpdate, { maxItems: MOST_UPDATES + 1 }),
    pages: Type.Array(checkedPath, { maxItems: MOST_CHECKED_PAGES }),
    keep: Type.Optional(Type.Boolean(newer(false))),
  },
  closed,
);
