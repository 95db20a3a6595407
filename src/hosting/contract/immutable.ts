/** The type with read-only members and items, so that callers may pass constants. */
export type Immutable<Given> = Given extends (infer Item)[]
  ? readonly Immutable<Item>[]
  : Given extends object
    ? { readonly [Member in keyof Given]: Immutable<Given[Member]> }
    : Given;
