/** The fields of a form by name, with values that are the same if their JSON is. */
export type Fields = Record<string, unknown>;

/** A field that the user edited. */
interface Edit<Value> {
  mine: Value;
  /** The server's value that the edit replaces. */
  base: Value;
}

/** The fields that the user edited, by name. All others have the server's values. */
export type Edits<F extends Fields> = { readonly [Name in keyof F]?: Edit<F[Name]> };

/** Names of fields. */
export type NameOf<F extends Fields> = Extract<keyof F, string>;

/** Whether two values of a field are the same. */
export const isSame = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one) === JSON.stringify(other);

/** Returns the edits after the user changed a field. A field with the server's value counts as not edited. */
export function edit<F extends Fields, Name extends NameOf<F>>(
  edits: Edits<F>,
  theirs: F,
  name: Name,
  mine: F[Name],
): Edits<F> {
  if (isSame(mine, theirs[name])) return without(edits, name);
  return { ...edits, [name]: { mine, base: edits[name]?.base ?? theirs[name] } };
}

/** Returns the names of the fields that differ from the server's values because the user edited them. */
export function editedNames<F extends Fields>(edits: Edits<F>, theirs: F): NameOf<F>[] {
  return namesOf(edits).filter((name) => !isSame(edits[name]?.mine, theirs[name]));
}

/** Returns what the form shows: the user's values of edited fields, and the server's of all others. */
export function merged<F extends Fields>(edits: Edits<F>, theirs: F): F {
  return { ...theirs, ...changeOf(edits) };
}

/** Returns the user's values of the edited fields. */
export function changeOf<F extends Fields>(edits: Edits<F>): Partial<F> {
  const change: Partial<F> = {};
  for (const name of namesOf(edits)) {
    const edited = edits[name];
    if (edited !== undefined) change[name] = edited.mine;
  }
  return change;
}

/** Returns the names of the fields that both the user and someone else changed, to different values. */
export function conflictsOf<F extends Fields>(edits: Edits<F>, theirs: F): NameOf<F>[] {
  return editedNames(edits, theirs).filter((name) => !isSame(edits[name]?.base, theirs[name]));
}

/** Resolves a conflict with the user's value: the next save replaces the server's. */
export function keepMine<F extends Fields>(edits: Edits<F>, theirs: F, name: NameOf<F>): Edits<F> {
  const edited = edits[name];
  return edited === undefined ? edits : { ...edits, [name]: { mine: edited.mine, base: theirs[name] } };
}

/** Forgets the edit of a field, which has the server's value then. */
export function without<F extends Fields>(edits: Edits<F>, name: NameOf<F>): Edits<F> {
  return { ...edits, [name]: undefined };
}

/** Returns what is left to save after `sent` was saved: fields that the user changed again meanwhile. */
export function leftAfter<F extends Fields>(edits: Edits<F>, sent: Edits<F>): Edits<F> {
  let left = edits;
  for (const name of namesOf(sent)) {
    const mine = sent[name]?.mine;
    const now = edits[name];
    if (mine === undefined || now === undefined) continue;
    left = isSame(now.mine, mine) ? without(left, name) : { ...left, [name]: { mine: now.mine, base: mine } };
  }
  return left;
}

function namesOf<F extends Fields>(edits: Edits<F>): NameOf<F>[] {
  const names: NameOf<F>[] = [];
  for (const name in edits) if (edits[name] !== undefined) names.push(name);
  return names;
}
