import { useQueryClient } from '@tanstack/react-query';
import { useLayoutEffect, useRef, useState } from 'react';
import { hosting } from '../../../api/client.ts';
import { unwrapStarted } from '../../../api/failure.ts';
import { type OffloadSettings, readOffloadSettings } from '../../../api/offload.ts';
import { Button } from '../../../components/button.tsx';
import { GroupConflict, SelectField, TextArea, TextField } from '../../../components/fields.tsx';
import { Form } from '../../../components/form.tsx';
import { showOperation } from '../../../components/toast.tsx';
import { useDraft } from '../../../components/use-draft.ts';
import styles from './offload.module.css';
import { fieldOf, newRow, type OffloadFields, offloadFields, type PathRow, settingsOf } from './path-rows.ts';

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
  const [added, setAdded] = useState<number | null>(null);
  const addButton = useRef<HTMLButtonElement>(null);
  const path = { install_id: installId };
  const draft = useDraft<OffloadSettings | null, OffloadFields>({
    resource: settings,
    fieldsOf: offloadFields,
    appliesLater: true,
    read: () => readOffloadSettings(installId),
    async save(edited, header, values) {
      const { bucket, bucket_region, path_settings } = settingsOf(values);
      const operationId = await unwrapStarted(
        header['If-Match'] === undefined
          ? hosting.POST('/installs/{install_id}/offload_settings/files', {
              params: { path },
              body: { filestore_settings: { cloud: 's3', bucket, bucket_region, path_settings } },
            })
          : hosting.PATCH('/installs/{install_id}/offload_settings/files', {
              params: { path, header },
              body: {
                filestore_settings: {
                  ...(edited.bucket === undefined ? {} : { bucket }),
                  ...(edited.bucket_region === undefined ? {} : { bucket_region }),
                  ...(edited.paths === undefined ? {} : { path_settings }),
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
    },
  });
  const { value: rows, onValue: setRows } = draft.field('paths');

  function add() {
    const row = newRow(rows);
    setRows([...rows, row]);
    setAdded(row.key);
  }

  const change = (key: number, changed: Partial<PathRow>) =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...changed } : row)));

  return (
    <Form
      draft={draft}
      submitLabel="Check and activate"
      disabled={settings !== null && !draft.isEdited}
      fieldOf={fieldOf}
    >
      <TextField
        label="Bucket"
        {...draft.field('bucket')}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        required
      />
      <TextField
        label="Region"
        hint="The region's name at your storage provider, for example eu-central-1."
        {...draft.field('bucket_region')}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
        required
      />
      <GroupConflict
        label="Paths"
        name="paths"
        theirs={draft.theirs.paths.map(({ path: theirs }) => theirs).join('\n')}
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
