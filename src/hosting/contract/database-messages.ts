import Type from 'typebox';
import { sentences } from './message-values.ts';

// Schemas of the messages about databases (protocol.ts).

export const databaseLink = Type.Union([
  Type.Object({
    token: Type.String({ pattern: '^\\d{10}\\.[A-Za-z0-9_-]{43}$' }),
    expiresAt: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$' }),
  }),
  Type.Object({
    refused: Type.Union([Type.Literal('missing'), Type.Literal('website')]),
    reason: sentences,
  }),
]);
