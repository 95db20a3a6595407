import Type, { type Static } from 'typebox';

const orNull = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);

/** An `ItemChange` as the payload of its job contains it, sealed. */
export const storedChange = Type.Object({
  kind: Type.Union([Type.Literal('plugin'), Type.Literal('theme')]),
  id: orNull(Type.String()),
  source: orNull(
    Type.Union([
      Type.Object({ slug: Type.String() }),
      Type.Object({ file: Type.String() }),
      Type.Object({ url: Type.String() }),
    ]),
  ),
  status: orNull(Type.Union([Type.Literal('active'), Type.Literal('inactive'), Type.Literal('deleted')])),
  autoUpdate: orNull(Type.Boolean()),
  keep: Type.Optional(Type.Boolean()),
});

export type StoredChange = Static<typeof storedChange>;
