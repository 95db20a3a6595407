import { useState } from 'react';
import { FormError } from '../../../api/failure.ts';
import type { Webhook } from '../../../api/webhooks.ts';
import { Button } from '../../../components/button.tsx';
import { RadioGroup, TextField } from '../../../components/fields.tsx';
import { useFocusOnMount } from '../../../components/focus-on-mount.ts';
import { Form, textOf } from '../../../components/form.tsx';
import { InstallPicker } from '../../../components/install-picker.tsx';
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

/** Creates or edits a webhook. Installs that are gone are not selected any more. */
export function WebhookForm({
  accountId,
  webhook,
  knownInstalls,
  submitLabel,
  onSubmit,
  onCancel,
}: {
  accountId: string;
  /** The present settings; null for a new webhook. */
  webhook: Webhook | null;
  /** The installs of the account. Only a webhook of some installs needs them. */
  knownInstalls: readonly { id: string }[];
  submitLabel: string;
  onSubmit(settings: WebhookSettings): Promise<void>;
  onCancel(): void;
}) {
  const first = useFocusOnMount<HTMLInputElement>();
  const [events, setEvents] = useState(webhook?.event_types ? 'some' : 'all');
  const [types, setTypes] = useState(() => eventChoicesOf(webhook?.event_types ?? []));
  const [reach, setReach] = useState(webhook?.install_ids ? 'some' : 'all');
  const [installs, setInstalls] = useState<readonly string[]>(() => {
    const known = new Set(knownInstalls.map(({ id }) => id));
    return webhook?.install_ids?.filter((id) => known.has(id)) ?? [];
  });

  async function submit(values: FormData) {
    if (events === 'some') requireOne('event_types', types, 'Select at least one type of event.');
    if (reach === 'some') requireOne('install_ids', installs, 'Select at least one install.');
    await onSubmit({
      url: textOf(values, 'url').trim(),
      description: textOf(values, 'description'),
      event_types: events === 'some' ? types : null,
      install_ids: reach === 'some' ? [...installs] : null,
    });
  }

  return (
    <Form
      submitLabel={submitLabel}
      onSubmit={submit}
      fieldOf={(field) => field.replace(/^(install_ids|event_types)\..*/, '$1')}
      actions={<Button onClick={onCancel}>Cancel</Button>}
    >
      <TextField
        ref={first}
        label="URL"
        name="url"
        type="text"
        inputMode="url"
        hint="Homeport sends events here. Example: https://hooks.example.com/homeport"
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={2000}
        defaultValue={webhook?.url}
        required
      />
      <TextField
        label="Description"
        name="description"
        hint="Helps you recognise the webhook later. Optional."
        autoComplete="off"
        maxLength={200}
        defaultValue={webhook?.description}
      />
      <RadioGroup label="Events" name="events" options={EVENTS} value={events} onChange={setEvents} />
      {events === 'some' && <EventTypePicker chosen={types} onChange={setTypes} />}
      <RadioGroup label="Installs" name="reach" options={INSTALLS} value={reach} onChange={setReach} />
      {reach === 'some' && (
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

function requireOne(field: string, chosen: readonly unknown[], message: string): void {
  if (chosen.length === 0) throw new FormError(message, [{ field, message }]);
}
