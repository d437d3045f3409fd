/** The field in which a message is written. What is typed outlasts a look at another screen. */

import { useLayoutEffect, useRef, useState } from "react";
import { useAround, useHere } from "../lib/session";
import { Icon } from "../parts/icons";

export function Composer({ isBegun, text, setText, isAnswering, say, stop }: {
  isBegun: boolean;
  text: string;
  setText: (text: string) => void;
  isAnswering: boolean;
  say: (text: string, assistant?: string) => void;
  stop: () => void;
}) {
  const { t } = useAround();
  const { me } = useHere();
  const [assistant, setAssistant] = useState("");
  const area = useRef<HTMLTextAreaElement>(null);
  // As high as what is typed, up to a limit of the style sheet: lines that the browser breaks count as well.
  useLayoutEffect(() => {
    const field = area.current;
    if (!field) return;
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
  }, [text]);
  const said = text.trim();
  const send = () => {
    if (!said || isAnswering) return;
    say(said, assistant || undefined);
    setText("");
    area.current?.focus();
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={area}
        id="composer"
        autoFocus={isBegun}
        rows={1}
        value={text}
        placeholder={t("chat.say")}
        aria-label={t("chat.say")}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            send();
          }
        }}
      />
      {me.assistants.length > 0 && (
        <select aria-label={t("chat.assistant")} value={assistant} onChange={(event) => setAssistant(event.target.value)}>
          <option value="">{t("chat.usual_assistant")}</option>
          {me.assistants.map((name) => <option key={name}>{name}</option>)}
        </select>
      )}
      {isAnswering ? (
        <button type="button" onClick={stop} className="send"><Icon name="stop" />{t("chat.stop")}</button>
      ) : (
        <button type="submit" className="accent send" disabled={!said}><Icon name="send" />{t("chat.send")}</button>
      )}
    </form>
  );
}
