import { useState } from 'react';
import { ApiFailure, type ClientResult, unwrap } from '../api/failure.ts';
import { type Precondition, preconditionOf } from '../api/precondition.ts';
import {
  changeOf,
  conflictsOf,
  type Edits,
  edit,
  editedNames,
  type Fields,
  isSame,
  keepMine,
  leftAfter,
  merged,
  type NameOf,
  without,
} from './draft-edits.ts';

/** A field that both the user and someone else changed. */
export interface Conflict {
  /** The value that someone else saved. */
  theirs: unknown;
  onKeepMine(): void;
  onTakeTheirs(): void;
}

/** The part of a draft that a form of any fields needs. */
export interface FormDraft {
  isEdited: boolean;
  /** Whether there are edits that no save has sent. */
  isUnsaved: boolean;
  /** By the names of fields. */
  conflicts: Readonly<Record<string, Conflict>>;
  /** Saves the edited fields. Resolves to false, without a change, if someone else has changed one of them. */
  save(): Promise<boolean>;
}

/** The user's edits of a form, on top of the server's values. */
export interface Draft<F extends Fields> extends FormDraft {
  /** The values that the form shows. */
  values: F;
  /** The values that the server has. */
  theirs: F;
  /** The properties of a field that holds a value. */
  field<Name extends NameOf<F>>(name: Name): { name: Name; value: F[Name]; onValue(value: F[Name]): void };
  /** The properties of a checkbox. */
  box<Name extends NameOf<F>>(name: Name): { name: Name; checked: boolean; onValue(value: F[Name]): void };
}

export interface DraftOptions<Resource, F extends Fields> {
  /** The resource as last loaded, also by live changes. */
  resource: Resource;
  fieldsOf(resource: Resource): F;
  /** Loads the resource, so that a save changes what the user has seen. Null while there is none yet. */
  read: (() => Promise<ClientResult<Resource>>) | null;
  /**
   * Sends the edited fields under this precondition, reloads what shows them, and says so. For endpoints that replace several fields at
   * once, `values` has all of them. `former` has what the server had.
   */
  save(change: Partial<F>, precondition: Precondition, values: F, former: F): Promise<void>;
  /** Whether a change shows in the resource only later, or never if it fails. The form shows the edits until then. */
  appliesLater?: boolean;
}

/** Attempts to save while others change fields that the user has not edited, or figures of the same resource. */
const MOST_ATTEMPTS = 5;

/**
 * Keeps what the user edits in a form. Fields without edits follow the server. A save first loads the resource: if someone else has changed
 * an edited field, the form shows both values instead; otherwise the edited fields are sent with `If-Match`.
 */
export function useDraft<Resource, F extends Fields>({
  resource,
  fieldsOf,
  read,
  save: send,
  appliesLater = false,
}: DraftOptions<Resource, F>): Draft<F> {
  const [edits, setEdits] = useState<Edits<F>>({});
  const [isSaving, setIsSaving] = useState(false);
  // The values that the last save found, until the page has loaded others.
  const [found, setFound] = useState<{ theirs: F; insteadOf: F } | null>(null);
  // Saved edits that the resource does not show yet.
  const [sent, setSent] = useState<{ edits: Edits<F>; insteadOf: F } | null>(null);
  const loaded = fieldsOf(resource);
  const theirs = found !== null && isSame(found.insteadOf, loaded) ? found.theirs : loaded;
  const values = merged(edits, theirs);
  if (sent !== null && sent.edits === edits && !isSame(sent.insteadOf, theirs)) {
    setEdits({});
    setSent(null);
  }

  /** Resolves to what the server had before the edits were saved; to null if someone else has changed one of the fields. */
  async function attempt(): Promise<F | null> {
    if (read === null) {
      await send(changeOf(edits), {}, values, theirs);
      return theirs;
    }
    for (let attempts = 1; ; attempts++) {
      const call = read();
      const present = fieldsOf(await unwrap(call));
      setFound({ theirs: present, insteadOf: loaded });
      if (conflictsOf(edits, present).length > 0) return null;
      try {
        const precondition = preconditionOf((await call).response);
        await send(changeOf(edits), precondition, merged(edits, present), present);
        return present;
      } catch (error) {
        const hasChanged = error instanceof ApiFailure && error.status === 412;
        if (!hasChanged || attempts === MOST_ATTEMPTS) throw error;
      }
    }
  }

  async function save(): Promise<boolean> {
    setIsSaving(true);
    try {
      const former = await attempt();
      if (former === null) return false;
      if (appliesLater) {
        setSent({ edits, insteadOf: former });
      } else {
        setEdits((now) => leftAfter(now, edits));
        setFound(null);
      }
      return true;
    } finally {
      setIsSaving(false);
    }
  }

  const onValue =
    <Name extends NameOf<F>>(name: Name) =>
    (value: F[Name]) =>
      setEdits((now) => edit(now, theirs, name, value));
  // While the server has some of the saved values already, they are not those of someone else.
  const conflicts = isSaving ? [] : conflictsOf(edits, theirs);
  const isEdited = editedNames(edits, theirs).length > 0;
  return {
    values,
    theirs,
    isEdited,
    isUnsaved: isEdited && edits !== sent?.edits,
    conflicts: Object.fromEntries(
      conflicts.map((name) => [
        name,
        {
          theirs: theirs[name],
          onKeepMine: () => setEdits((now) => keepMine(now, theirs, name)),
          onTakeTheirs: () => setEdits((now) => without(now, name)),
        },
      ]),
    ),
    save,
    field: (name) => ({ name, value: values[name], onValue: onValue(name) }),
    box: (name) => ({ name, checked: values[name] === true, onValue: onValue(name) }),
  };
}
