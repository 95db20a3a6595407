/** The type without permission to change members and items. Callers may pass constants then. */
export type Immutable<Given> = Given extends (infer Item)[]
  ? readonly Immutable<Item>[]
  : Given extends object
    ? { readonly [Member in keyof Given]: Immutable<Given[Member]> }
    : Given;
