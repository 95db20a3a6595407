import { hosting } from '../../../api/client.ts';
import { FormError } from '../../../api/failure.ts';
import type { Precondition } from '../../../api/precondition.ts';
import type { Webhook } from '../../../api/webhooks.ts';
import { Button } from '../../../components/button.tsx';
import { GroupConflict, RadioGroup, TextField } from '../../../components/fields.tsx';
import { useFocusOnMount } from '../../../components/focus-on-mount.ts';
import { Form } from '../../../components/form.tsx';
import { InstallPicker } from '../../../components/install-picker.tsx';
import { useDraft } from '../../../components/use-draft.ts';
import { EventTypePicker } from './event-type-picker.tsx';
import { type EventChoice, eventChoicesOf } from './event-types.ts';

/** The settings of a webhook that users choose. */
export interface WebhookSettings {
  url: string;
  description: string;
  event_types: EventChoice[] | null;
  install_ids: string[] | null;
}

const EVENTS = [
  { value: 'all', label: 'All events', hint: 'Includes types that Homeport adds later.' },
  { value: 'some', label: 'Some types of events' },
] as const;

const INSTALLS = [
  { value: 'all', label: 'All installs', hint: 'Includes events without an install, such as new sites.' },
  { value: 'some', label: 'Some installs' },
] as const;

const NONE: ReadonlySet<string> = new Set();

/** `gone`: installs that no longer exist. */
const fieldsOf = (
  { url, description, event_types, install_ids }: Pick<Webhook, keyof WebhookSettings>,
  gone: ReadonlySet<string>,
) => ({
  url,
  description,
  event_types: event_types && eventChoicesOf(event_types),
  install_ids: install_ids?.filter((id) => !gone.has(id)) ?? null,
});

const EMPTY = { url: '', description: '', event_types: null, install_ids: null };

/** Creates or edits a webhook. Installs that are gone are not selected any more. */
export function WebhookForm({
  accountId,
  webhook,
  goneInstalls = NONE,
  onSubmit,
  onCancel,
}: {
  accountId: string;
  /** The present settings; null for a new webhook. */
  webhook: Webhook | null;
  goneInstalls?: ReadonlySet<string>;
  /** `edited`: those of the settings that the user changed. */
  onSubmit(
    settings: WebhookSettings,
    edited: Partial<WebhookSettings>,
    precondition: Precondition,
  ): Promise<void>;
  onCancel(): void;
}) {
  const first = useFocusOnMount<HTMLInputElement>();
  const draft = useDraft<Pick<Webhook, keyof WebhookSettings>, ReturnType<typeof fieldsOf>>({
    resource: webhook ?? EMPTY,
    fieldsOf: (settings) => fieldsOf(settings, goneInstalls),
    read:
      webhook &&
      (() => hosting.GET('/webhooks/{webhook_id}', { params: { path: { webhook_id: webhook.id } } })),
    async save({ url, ...edited }, precondition, values) {
      requireOne('event_types', values.event_types, 'Select at least one type of event.');
      requireOne('install_ids', values.install_ids, 'Select at least one install.');
      const changed = { ...edited, ...(url === undefined ? {} : { url: url.trim() }) };
      await onSubmit({ ...values, url: values.url.trim() }, changed, precondition);
    },
  });
  const { value: types, onValue: setTypes } = draft.field('event_types');
  const { value: installs, onValue: setInstalls } = draft.field('install_ids');

  return (
    <Form
      draft={draft}
      submitLabel={webhook === null ? 'Create webhook' : 'Save webhook'}
      disabled={webhook !== null && !draft.isEdited}
      fieldOf={(field) => field.replace(/^(install_ids|event_types)\..*/, '$1')}
      actions={<Button onClick={onCancel}>Cancel</Button>}
    >
      <TextField
        ref={first}
        label="URL"
        type="text"
        inputMode="url"
        hint="Homeport sends events here. Example: https://hooks.example.com/homeport"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={2000}
        required
        {...draft.field('url')}
      />
      <TextField
        label="Description"
        hint="Helps you recognise the webhook later. Optional."
        autoComplete="off"
        maxLength={200}
        {...draft.field('description')}
      />
      <RadioGroup
        label="Events"
        name="events"
        options={EVENTS}
        value={types === null ? 'all' : 'some'}
        onValue={(reach) => setTypes(reach === 'all' ? null : eventChoicesOf(webhook?.event_types ?? []))}
      />
      <GroupConflict
        label="Events"
        name="event_types"
        theirs={draft.theirs.event_types?.join('\n') ?? 'all events'}
      />
      {types !== null && <EventTypePicker chosen={types} onChange={setTypes} />}
      <RadioGroup
        label="Installs"
        name="reach"
        options={INSTALLS}
        value={installs === null ? 'all' : 'some'}
        onValue={(reach) => setInstalls(reach === 'all' ? null : (webhook?.install_ids ?? []))}
      />
      <GroupConflict label="Installs" name="install_ids" theirs={counted(draft.theirs.install_ids)} />
      {installs !== null && (
        <InstallPicker
          label="Selected installs"
          accountId={accountId}
          chosen={installs}
          onChange={setInstalls}
        />
      )}
    </Form>
  );
}

function counted(ids: readonly string[] | null): string {
  if (ids === null) return 'all installs';
  return ids.length === 1 ? '1 install' : `${ids.length} installs`;
}

function requireOne(field: string, chosen: readonly unknown[] | null, message: string): void {
  if (chosen?.length === 0) throw new FormError(message, [{ field, message }]);
}
