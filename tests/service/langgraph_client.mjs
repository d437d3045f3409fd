// What LangGraph's JavaScript client does with the service; prints what it was told, as JSON.
import { Client } from "@langchain/langgraph-sdk";

const [url, key, thread] = process.argv.slice(2);
const client = new Client({ apiUrl: url, apiKey: key });

await client.store.putItem(["js", "ada"], "tea", { text: "Ada drinks green tea" });
const item = await client.store.getItem(["js", "ada"], "tea");
const missing = await client.store.getItem(["js", "ada"], "coffee");
const found = await client.store.searchItems(["js"], { query: "What does she drink?" });
const listed = await client.store.listNamespaces({ prefix: ["js"] });
await client.store.deleteItem(["js", "ada"], "tea");
const gone = await client.store.getItem(["js", "ada"], "tea");

await client.threads.create({ threadId: thread });
const post = (content) =>
  client.runs.create(thread, "memory_graph", {
    input: { messages: [{ role: "user", content }] },
    config: { configurable: { user_id: "will" } },
    multitaskStrategy: "rollback",
    afterSeconds: 600,
  });
await post("My name is Will.");
const run = await post("I like hiking.");
const runs = await client.runs.list(thread);
const state = await client.threads.getState(thread);
const assistants = await client.assistants.search();

console.log(
  JSON.stringify({
    item: [item.namespace, item.key, item.value, Boolean(item.createdAt)],
    missing,
    gone,
    found: found.items.map((each) => each.key),
    listed: listed.namespaces ?? listed,
    run: [run.status, runs.map((each) => each.status)],
    messages: state.values.messages.map((each) => each.content),
    assistants: assistants.map((each) => each.name),
  }),
);
