import { useId } from 'react';
import formStyles from '../../../components/form.module.css';
import { useFieldError } from '../../../components/form.tsx';
import pickerStyles from '../../../components/install-picker.module.css';
import { EVENT_CHOICES, type EventChoice } from './event-types.ts';
import styles from './webhooks.module.css';

/** Name of the field in forms and in the server's validation errors. */
const FIELD = 'event_types';

/** A checkbox list of the types of events: the form field `event_types`. */
export function EventTypePicker({
  chosen,
  onChange,
}: {
  chosen: readonly EventChoice[];
  onChange(types: EventChoice[]): void;
}) {
  const id = useId();
  const error = useFieldError(FIELD);
  return (
    <fieldset className={formStyles.group} aria-describedby={error === undefined ? undefined : `${id}-error`}>
      <legend className={formStyles.label}>Types of events</legend>
      {error !== undefined && (
        <span id={`${id}-error`} className={formStyles.error}>
          {error}
        </span>
      )}
      <ul className={`${pickerStyles.list} ${styles.types}`}>
        {EVENT_CHOICES.map((type) => (
          <li key={type} className={formStyles.choice}>
            <input
              type="checkbox"
              name={FIELD}
              aria-invalid={error !== undefined || undefined}
              id={`${id}-${type}`}
              checked={chosen.includes(type)}
              onChange={({ currentTarget }) =>
                onChange(currentTarget.checked ? [...chosen, type] : chosen.filter((other) => other !== type))
              }
            />
            <label htmlFor={`${id}-${type}`}>
              <code>{type}</code>
            </label>
          </li>
        ))}
      </ul>
    </fieldset>
  );
}
