import { useState } from 'react';
import { CheckboxField, RadioGroup, TextField } from '../../../components/fields.tsx';
import { textOf } from '../../../components/form.tsx';
import { EVERYTHING, type Parts, partsOf, readTables, SCOPE_LABELS, SCOPES } from './replacement.ts';

/** The parts of a website to replace. Only for websites with a database; others have files only. */
export function PartsFields({ label, withTables = false }: { label: string; withTables?: boolean }) {
  const [scope, setScope] = useState<string>('everything');
  return (
    <>
      <RadioGroup
        label={label}
        name="scope"
        value={scope}
        onValue={setScope}
        options={SCOPES.map((value) => ({ value, label: SCOPE_LABELS[value] }))}
      />
      {withTables && scope !== 'files' && (
        <TextField
          label="Only these tables"
          name="tables"
          hint="All tables if you leave this empty. Separate names with commas, for example: wp_posts, wp_postmeta"
          autoCapitalize="none"
          spellCheck={false}
        />
      )}
    </>
  );
}

/** Reads the values of {@link PartsFields}. Without these fields, everything. */
export function readParts(values: FormData): Parts {
  const scope = SCOPES.find((one) => one === textOf(values, 'scope'));
  return scope === undefined ? EVERYTHING : partsOf(scope, readTables(textOf(values, 'tables')));
}

/** Whether the replaced install is backed up first. */
export function CheckpointField({
  target,
  hint,
  defaultChecked = true,
}: {
  target: string;
  hint: string;
  defaultChecked?: boolean;
}) {
  return (
    <CheckboxField
      label={`Make a checkpoint of ${target} first`}
      name="checkpoint"
      defaultChecked={defaultChecked}
      hint={hint}
    />
  );
}
