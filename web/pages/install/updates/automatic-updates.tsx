import { useQueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import type { Install } from '../../../api/installs.ts';
import { type UpdatePolicy, useUpdatePolicy } from '../../../api/updates.ts';
import {
  CheckboxField,
  GroupConflict,
  SelectField,
  TextArea,
  TextField,
} from '../../../components/fields.tsx';
import { Form } from '../../../components/form.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Section } from '../../../components/page.tsx';
import { showSuccess } from '../../../components/toast.tsx';
import { useDraft } from '../../../components/use-draft.ts';
import { useMay } from '../../../session/session.ts';
import {
  CORE_OPTIONS,
  DAYS,
  describeWindow,
  ITEM_OPTIONS,
  policyChange,
  policyFields,
  suggestedWindow,
  type WindowFields,
} from './policy-fields.ts';

/** The policy of an install for automatic updates. */
export function AutomaticUpdates({ install }: { install: Install }) {
  const mayWork = useMay(install.account.id)('install.work');
  const policy = useUpdatePolicy(install.id);
  return (
    <Section title="Automatic updates">
      <Loaded query={policy} what="automatic updates">
        {(known) => <PolicyForm install={install} policy={known} mayWork={mayWork} />}
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
  const params = { path: { install_id: install.id } };
  const draft = useDraft({
    resource: policy,
    fieldsOf: policyFields,
    read: () => hosting.GET('/installs/{install_id}/wordpress/update_policy', { params }),
    async save(edited, header) {
      await unwrap(
        hosting.PATCH('/installs/{install_id}/wordpress/update_policy', {
          params: { ...params, header },
          body: policyChange(edited),
        }),
      );
      await queries.invalidateQueries({ queryKey: ['update-policy', install.id] });
      showSuccess('The automatic updates are saved.');
    },
  });

  return (
    <Form
      draft={draft}
      submitLabel="Save"
      disabled={!mayWork || !draft.isEdited}
      fieldOf={(field) => field.split('.').at(-1) ?? field}
    >
      <SelectField label="WordPress" options={CORE_OPTIONS} {...draft.field('core')} />
      <SelectField label="Plugins" options={ITEM_OPTIONS} {...draft.field('plugins')} />
      <SelectField label="Themes" options={ITEM_OPTIONS} {...draft.field('themes')} />
      <MaintenanceWindow theirs={draft.theirs.maintenance_window} {...draft.field('maintenance_window')} />
      <TextArea
        label="Pages to check"
        rows={3}
        hint="Paths, one on each line, up to six. The home page, the newest post and page, the login form and wp-admin are always checked."
        {...draft.field('pages')}
      />
    </Form>
  );
}

/** When updates are made: a choice as a whole, because the server takes it as a whole. */
function MaintenanceWindow({
  theirs,
  name,
  value: window,
  onValue,
}: {
  /** The stored policy. */
  theirs: WindowFields | null;
  name: string;
  value: WindowFields | null;
  onValue(window: WindowFields | null): void;
}) {
  const change = (changed: Partial<WindowFields>) => window && onValue({ ...window, ...changed });
  return (
    <>
      <CheckboxField
        label="Only in a maintenance window"
        name="has_window"
        checked={window !== null}
        onValue={(isOn) => onValue(isOn ? (theirs ?? suggestedWindow()) : null)}
      />
      <GroupConflict label="Maintenance window" name={name} theirs={describeWindow(theirs)} />
      {window && (
        <>
          {DAYS.map((day) => (
            <CheckboxField
              key={day}
              name={day}
              label={day.charAt(0).toUpperCase() + day.slice(1)}
              checked={window.days.includes(day)}
              onValue={(isOn) =>
                change({ days: DAYS.filter((one) => (one === day ? isOn : window.days.includes(one))) })
              }
            />
          ))}
          <TextField
            type="number"
            label="First hour"
            name="from_hour"
            min={0}
            max={23}
            required
            value={window.from_hour}
            onValue={(from_hour) => change({ from_hour })}
          />
          <TextField
            type="number"
            label="Length in hours"
            name="hours"
            min={1}
            max={24}
            required
            value={window.hours}
            onValue={(hours) => change({ hours })}
          />
          <TextField
            label="Time zone"
            name="time_zone"
            required
            value={window.time_zone}
            onValue={(time_zone) => change({ time_zone })}
          />
        </>
      )}
    </>
  );
}
