// The four official clients behind one face: `ask` gives the text and the calls, `answerCall` the turns that answer one.

import { createRequire } from 'node:module';
import { join } from 'node:path';

const WEATHER = {
  name: 'weather',
  description: 'The weather in a city.',
  schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const REMOVE = { name: 'remove', description: 'Removes everything.', schema: { type: 'object', properties: {} } };
const TOOLS = [WEATHER, REMOVE];

/** The clients on a gateway, each with the foreign upstream that it talks to. */
export function clients(modules, base) {
  const require = createRequire(join(modules, 'any.js'));
  const OpenAI = require('openai');
  const Anthropic = require('@anthropic-ai/sdk');
  const genai = require('@google/genai');
  const openai = new OpenAI({ apiKey: 'none', baseURL: `${base}/v1`, maxRetries: 0 });
  const anthropic = new Anthropic({ apiKey: 'none', baseURL: base, maxRetries: 0 });
  const google = new genai.GoogleGenAI({ apiKey: 'none', vertexai: false, httpOptions: { baseUrl: base } });
  return [
    { name: 'openai-chat', upstream: 'anthropic', rateLimit: OpenAI.RateLimitError, ...chat(openai) },
    { name: 'openai-responses', upstream: 'gemini', rateLimit: OpenAI.RateLimitError, ...responses(openai) },
    { name: 'anthropic-messages', upstream: 'responses', rateLimit: Anthropic.RateLimitError, ...messages(anthropic) },
    { name: 'gemini', upstream: 'chat', rateLimit: genai.ApiError, ...gemini(google) },
  ];
}

function chat(client) {
  const tools = TOOLS.map(({ name, description, schema }) => ({
    type: 'function',
    function: { name, description, parameters: schema },
  }));
  return {
    user: (content) => ({ role: 'user', content }),
    async ask(model, turns, streamed) {
      const asked = { model, messages: turns, tools };
      const completion = streamed
        ? await client.chat.completions.stream(asked).finalChatCompletion()
        : await client.chat.completions.create(asked);
      const { content, tool_calls: calls = [] } = completion.choices[0].message;
      const native = { role: 'assistant', content, ...(calls?.length ? { tool_calls: calls.map(plainCall) } : {}) };
      return { text: content ?? '', calls: (calls ?? []).map(chatCall), turn: [native] };
    },
    answerCall: (call, output) => [{ role: 'tool', tool_call_id: call.id, content: output }],
  };
}

const plainCall = ({ id, function: { name, arguments: text } }) => ({ id, type: 'function', function: { name, arguments: text } });
const chatCall = (call) => ({ id: call.id, name: call.function.name, arguments: JSON.parse(call.function.arguments) });

function responses(client) {
  const tools = TOOLS.map(({ name, description, schema }) => ({
    type: 'function',
    name,
    description,
    parameters: schema,
    strict: false,
  }));
  return {
    user: (content) => ({ role: 'user', content }),
    async ask(model, turns, streamed) {
      const asked = { model, input: turns, tools, store: false };
      const response = streamed ? await client.responses.stream(asked).finalResponse() : await client.responses.create(asked);
      const calls = response.output.filter((item) => item.type === 'function_call');
      const read = calls.map((it) => ({ id: it.call_id, name: it.name, arguments: JSON.parse(it.arguments) }));
      return { text: response.output_text, calls: read, turn: response.output.map(withoutParsed) };
    },
    answerCall: (call, output) => [{ type: 'function_call_output', call_id: call.id, output }],
  };
}

/** The helper adds what it has parsed, which is not for the wire. */
function withoutParsed(item) {
  const { parsed_arguments: _, ...rest } = item;
  if (!rest.content) return rest;
  return { ...rest, content: rest.content.map(({ parsed: __, ...part }) => part) };
}

function messages(client) {
  const tools = TOOLS.map(({ name, description, schema }) => ({ name, description, input_schema: schema }));
  return {
    user: (content) => ({ role: 'user', content }),
    async ask(model, turns, streamed) {
      const asked = { model, max_tokens: 1000, messages: turns, tools };
      const message = streamed ? await client.messages.stream(asked).finalMessage() : await client.messages.create(asked);
      const calls = message.content.filter((block) => block.type === 'tool_use');
      const text = message.content.map((block) => block.text ?? '').join('');
      const read = calls.map((it) => ({ id: it.id, name: it.name, arguments: it.input }));
      return { text, calls: read, turn: [{ role: 'assistant', content: message.content }] };
    },
    answerCall: (call, output) => [
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: output }] },
    ],
  };
}

function gemini(client) {
  const functionDeclarations = TOOLS.map(({ name, description, schema }) => ({ name, description, parametersJsonSchema: schema }));
  const config = { tools: [{ functionDeclarations }] };
  return {
    user: (text) => ({ role: 'user', parts: [{ text }] }),
    async ask(model, turns, streamed) {
      const asked = { model, contents: turns, config };
      const chunks = [];
      if (streamed) {
        for await (const chunk of await client.models.generateContentStream(asked)) chunks.push(chunk);
      } else {
        chunks.push(await client.models.generateContent(asked));
      }
      const parts = chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);
      const calls = parts.flatMap((part) => (part.functionCall ? [part.functionCall] : []));
      const read = calls.map((it) => ({ id: it.id, name: it.name, arguments: it.args }));
      return { text: parts.map((part) => part.text ?? '').join(''), calls: read, turn: [{ role: 'model', parts }] };
    },
    answerCall: (call, output) => [
      { role: 'user', parts: [{ functionResponse: { id: call.id, name: call.name, response: { output } } }] },
    ],
  };
}
