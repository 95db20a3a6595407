import { type ComponentProps, Suspense, useRef, useState } from 'react';
import type { ChoiceFieldProps } from './combobox-field.tsx';
import { SelectField } from './fields.tsx';
import { onDemand } from './on-demand.ts';

/** Longer lists get a search field. */
const MOST_WITHOUT_SEARCH = 12;

const ComboboxField = onDemand(
  () => import('./combobox-field.tsx'),
  (module) => module.ComboboxField,
);

/**
 * A choice from a list that may be long: sites, installs, accounts. Short lists are native selects. An option with the empty value stands
 * for no choice.
 */
export function ChoiceField(field: ChoiceFieldProps) {
  const hadFocus = useRef(false);
  const select = selectOf(field);
  const total = useLastKnown(field.onServer === undefined ? field.options.length : field.onServer.total);
  if (total === undefined || total <= MOST_WITHOUT_SEARCH) {
    return <SelectField {...select} />;
  }
  return (
    <Suspense
      fallback={
        <SelectField
          {...select}
          ref={(element) => () => {
            hadFocus.current = document.activeElement === element;
          }}
        />
      }
    >
      <ComboboxField {...field} hadFocus={hadFocus} />
    </Suspense>
  );
}

/** Returns the last number that was known, so that a failed search does not replace the field in which the user types. */
function useLastKnown(total: number | undefined): number | undefined {
  const [known, setKnown] = useState(total);
  if (total !== undefined && total !== known) setKnown(total);
  return total ?? known;
}

/** The attributes of the native select. It offers the chosen one even if the server has not listed it. */
function selectOf({ options, chosen, onServer: _, onChange, hint, ...field }: ChoiceFieldProps) {
  const isListed = chosen === undefined || options.some(({ value }) => value === chosen.value);
  const select: ComponentProps<typeof SelectField> = {
    ...field,
    options: isListed ? options : [...options, chosen],
    ...(hint !== undefined && { hint }),
    onChange: (event) => onChange(event.currentTarget.value),
  };
  return select;
}
