import Type from 'typebox';
import { closed, orNull, sentences, text, uuid } from './message-values.ts';
import { newer } from './sent-value.ts';
import { checkedPath, itemId } from './update-messages.ts';
import { ITEM_SLUG, LONGEST_PACKAGE_PATH, LONGEST_PACKAGE_URL, THEME_ID } from './wordpress-changes.ts';
import { MOST_CHECKED_PAGES } from './wordpress-updates.ts';

// Schemas of changes of plugins and themes in messages between the control plane and a host (protocol.ts).

const packageSource = Type.Union([
  Type.Object({ slug: Type.String({ pattern: ITEM_SLUG }) }, closed),
  Type.Object({ file: Type.String({ minLength: 1, maxLength: LONGEST_PACKAGE_PATH }) }, closed),
  Type.Object({ url: Type.String({ minLength: 1, maxLength: LONGEST_PACKAGE_URL }) }, closed),
]);

const wantedState = {
  source: orNull(packageSource),
  status: orNull(Type.Union([Type.Literal('active'), Type.Literal('inactive'), Type.Literal('deleted')])),
  autoUpdate: orNull(Type.Boolean()),
  keep: Type.Optional(Type.Boolean(newer(false))),
};
const themeId = Type.String({ minLength: 1, maxLength: 200, pattern: THEME_ID });

export const itemChange = Type.Union([
  Type.Object({ kind: Type.Literal('plugin'), id: orNull(itemId), ...wantedState }, closed),
  Type.Object({ kind: Type.Literal('theme'), id: orNull(themeId), ...wantedState }, closed),
]);

export const itemOrder = Type.Object(
  {
    changeId: uuid,
    checkpointId: orNull(uuid),
    change: itemChange,
    pages: Type.Array(checkedPath, { maxItems: MOST_CHECKED_PAGES }),
  },
  closed,
);

export const itemOutcome = Type.Union([
  Type.Object({
    changed: Type.Object({
      id: itemId,
      name: text(200),
      version: orNull(text(200)),
      warning: Type.Optional(sentences),
    }),
  }),
  Type.Object({ refused: sentences }),
  Type.Object({ rolledBack: sentences, mayKeep: Type.Optional(Type.Boolean()) }),
]);
