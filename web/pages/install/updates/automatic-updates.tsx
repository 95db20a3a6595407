import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hosting } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { type UpdatePolicy, useUpdatePolicy } from '../../../api/updates.ts';
import { CheckboxField, SelectField, TextArea, TextField } from '../../../components/fields.tsx';
import { Form, textOf } from '../../../components/form.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Section } from '../../../components/page.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { useMay } from '../../../session/session.ts';
import { CORE_OPTIONS, DAYS, ITEM_OPTIONS, policyChange } from './update-labels.ts';

/** The policy of an install for automatic updates. */
export function AutomaticUpdates({ install }: { install: Install }) {
  const mayWork = useMay(install.account.id)('install.work');
  const policy = useUpdatePolicy(install.id);
  return (
    <Section title="Automatic updates">
      <Loaded query={policy} what="automatic updates">
        {(known) => (
          <PolicyForm key={JSON.stringify(known)} install={install} policy={known} mayWork={mayWork} />
        )}
      </Loaded>
    </Section>
  );
}

function PolicyForm({
  install,
  policy,
  mayWork,
}: {
  install: Install;
  policy: UpdatePolicy;
  mayWork: boolean;
}) {
  const queries = useQueryClient();
  const { maintenance_window: window } = policy;
  const [hasWindow, setHasWindow] = useState(window !== null);

  async function save(values: FormData) {
    const body = policyChange({
      core: textOf(values, 'core'),
      plugins: textOf(values, 'plugins'),
      themes: textOf(values, 'themes'),
      hasWindow,
      days: DAYS.filter((day) => values.has(day)),
      fromHour: textOf(values, 'from_hour'),
      hours: textOf(values, 'hours'),
      timeZone: textOf(values, 'time_zone'),
      pages: textOf(values, 'pages'),
    });
    await unwrap(
      hosting.PATCH('/installs/{install_id}/wordpress/update_policy', {
        params: { path: { install_id: install.id } },
        body,
      }),
    );
    await queries.invalidateQueries({ queryKey: ['install', install.id, 'update-policy'] });
    showSuccess('The automatic updates are saved.');
  }

  return (
    <Form
      submitLabel="Save"
      disabled={!mayWork}
      fieldOf={(field) => field.split('.').at(-1) ?? field}
      onSubmit={save}
    >
      <SelectField label="WordPress" name="core" defaultValue={policy.core} options={CORE_OPTIONS} />
      <SelectField label="Plugins" name="plugins" defaultValue={policy.plugins} options={ITEM_OPTIONS} />
      <SelectField label="Themes" name="themes" defaultValue={policy.themes} options={ITEM_OPTIONS} />
      <CheckboxField
        label="Only in a maintenance window"
        name="has_window"
        checked={hasWindow}
        onChange={({ target }) => setHasWindow(target.checked)}
      />
      {hasWindow && (
        <>
          {DAYS.map((day) => (
            <CheckboxField
              key={day}
              name={day}
              label={day.charAt(0).toUpperCase() + day.slice(1)}
              defaultChecked={window === null || window.days.includes(day)}
            />
          ))}
          <TextField
            type="number"
            label="First hour"
            name="from_hour"
            min={0}
            max={23}
            required
            defaultValue={window?.from_hour ?? 2}
          />
          <TextField
            type="number"
            label="Length in hours"
            name="hours"
            min={1}
            max={24}
            required
            defaultValue={window?.hours ?? 4}
          />
          <TextField
            label="Time zone"
            name="time_zone"
            required
            defaultValue={window?.time_zone ?? Intl.DateTimeFormat().resolvedOptions().timeZone}
          />
        </>
      )}
      <TextArea
        label="Pages to check"
        name="pages"
        rows={3}
        defaultValue={policy.pages.join('\n')}
        hint="Paths, one on each line, up to six. The home page, the newest post and page, and the login form are always checked."
      />
    </Form>
  );
}
