import { useQueryClient } from '@tanstack/react-query';
import { useLayoutEffect, useRef, useState } from 'react';
import { hosting } from '../../../api/client.ts';
import { unwrapStarted } from '../../../api/failure.ts';
import type { OffloadSettings } from '../../../api/offload.ts';
import { Button } from '../../../components/button.tsx';
import { SelectField, TextArea, TextField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { showOperation } from '../../../components/toast.tsx';
import styles from './offload.module.css';
import { fieldOf, newRow, type PathRow, rowsOf, settingsOf } from './path-rows.ts';

const REDIRECT_TYPES = [
  { value: 'break', label: 'Serve through the edge at the same address' },
  { value: 'permanent', label: 'Redirect visitors to the bucket (301)' },
] as const;

/** Submits offload settings, which become active once the bucket is verified. */
export function OffloadForm({
  installId,
  settings,
}: {
  installId: string;
  settings: OffloadSettings | null;
}) {
  const queries = useQueryClient();
  const [rows, setRows] = useState(() => rowsOf(settings));
  const [added, setAdded] = useState<number | null>(null);
  const addButton = useRef<HTMLButtonElement>(null);

  async function submit(values: FormData) {
    const operationId = await unwrapStarted(
      hosting.POST('/installs/{install_id}/offload_settings/files', {
        params: { path: { install_id: installId } },
        body: {
          filestore_settings: {
            cloud: 's3',
            bucket: textOf(values, 'bucket').trim(),
            bucket_region: textOf(values, 'bucket_region').trim(),
            path_settings: settingsOf(rows),
          },
        },
      }),
    );
    await Promise.all([
      queries.invalidateQueries({ queryKey: ['offload', installId] }),
      queries.invalidateQueries({ queryKey: ['operation', installId] }),
    ]);
    showOperation(operationId, {
      busy: 'Checking the bucket.',
      done: 'The offload settings are active.',
    });
  }

  function add() {
    const row = newRow(rows);
    setRows([...rows, row]);
    setAdded(row.key);
  }

  const change = (key: number, changed: Partial<PathRow>) =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...changed } : row)));

  return (
    <Form submitLabel="Check and activate" onSubmit={submit} fieldOf={fieldOf}>
      <TextField
        label="Bucket"
        name="bucket"
        defaultValue={settings?.bucket}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        required
      />
      <TextField
        label="Region"
        name="bucket_region"
        hint="The region's name at your storage provider, for example eu-central-1."
        defaultValue={settings?.bucket_region}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        required
      />
      {rows.map((row, index) => (
        <PathFields
          key={row.key}
          row={row}
          index={index}
          takesFocus={row.key === added}
          onChange={(changed) => change(row.key, changed)}
          onRemove={
            rows.length > 1
              ? () => {
                  setRows(rows.filter(({ key }) => key !== row.key));
                  addButton.current?.focus();
                }
              : null
          }
        />
      ))}
      <div>
        <Button ref={addButton} small onClick={add}>
          Add path
        </Button>
      </div>
    </Form>
  );
}

/** The fields of one path. */
function PathFields({
  row,
  index,
  takesFocus,
  onChange,
  onRemove,
}: {
  row: PathRow;
  index: number;
  /** Whether the user has just added the path. */
  takesFocus: boolean;
  onChange(changed: Partial<PathRow>): void;
  /** Null for the only path. */
  onRemove: (() => void) | null;
}) {
  const fields = useRef<HTMLFieldSetElement>(null);
  // Before the next key is pressed.
  useLayoutEffect(() => {
    if (takesFocus) fields.current?.querySelector('input')?.focus();
  }, [takesFocus]);
  const field = (name: string) => `path_settings.${index}.${name}`;
  return (
    <fieldset ref={fields} className={styles.path}>
      <legend>Path {index + 1}</legend>
      <TextField
        label="Path"
        name={field('path')}
        hint="All files below this path are offloaded. Must begin with a slash."
        value={row.path}
        onChange={(event) => onChange({ path: event.currentTarget.value })}
        autoCapitalize="none"
        spellCheck={false}
        required
      />
      <SelectField
        label="Method"
        name={field('redirect_type')}
        value={row.redirectType}
        options={REDIRECT_TYPES}
        onChange={(event) =>
          onChange({ redirectType: event.currentTarget.value === 'permanent' ? 'permanent' : 'break' })
        }
      />
      <TextArea
        label="Excluded paths"
        name={field('excluded_paths')}
        hint="Paths below it that the website keeps serving, one on each line. Optional."
        value={row.excluded}
        onChange={(event) => onChange({ excluded: event.currentTarget.value })}
      />
      {onRemove && (
        <div>
          <Button small aria-label={`Remove path ${index + 1}`} onClick={onRemove}>
            Remove
          </Button>
        </div>
      )}
    </fieldset>
  );
}
